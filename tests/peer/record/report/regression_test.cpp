#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "peer/record/report/screen.h"

namespace gv {
namespace {

Dataset with(std::vector<float> targets) {
  Dataset data;
  data.rows = static_cast<std::uint32_t>(targets.size());
  data.targets = std::move(targets);
  return data;
}

/// The mean is 3, and the squared deviations are 4, 1, 0 and 9.
TEST(Regression, ScoresAreThoseOfTheDefinition) {
  const Dataset data = with({1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(loss_of_mean(data), 1.75);
  const auto score = regression_score(&data, 0.5);
  ASSERT_TRUE(score && score->r2);
  EXPECT_DOUBLE_EQ(*score->r2, 1 - 0.5 / 1.75);
  EXPECT_DOUBLE_EQ(score->rmse, 1);
  EXPECT_DOUBLE_EQ(*regression_score(&data, 0)->r2, 1);
  EXPECT_DOUBLE_EQ(*regression_score(&data, 1.75)->r2, 0) << "no better than the mean";
  EXPECT_LT(*regression_score(&data, 100)->r2, 0);
  EXPECT_EQ(score_text(*score), "R2         0.7143; root of the mean squared error 1");
}

TEST(Regression, WhereThereIsNoScoreNoneIsTold) {
  EXPECT_FALSE(regression_score(nullptr, 1));
  const Dataset classes = with({});
  EXPECT_FALSE(regression_score(&classes, 1));
  const Dataset data = with({1, 2});
  EXPECT_FALSE(regression_score(&data, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(regression_score(&data, std::numeric_limits<double>::infinity()));
  Json json = Json::object();
  add_score(json, {});
  EXPECT_EQ(json.dump(), "{}");
  const Dataset alike = with({4, 4, 4});
  const auto score = regression_score(&alike, 0.5);
  ASSERT_TRUE(score);
  EXPECT_FALSE(score->r2) << "nothing to explain";
  EXPECT_NE(score_text(*score).find("all targets are alike"), std::string::npos);
  add_score(json, score);
  EXPECT_EQ(json.dump(), R"({"r2":null,"rmse":1.0})");
}

}  // namespace
}  // namespace gv
