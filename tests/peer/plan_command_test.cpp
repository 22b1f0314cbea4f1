#include <algorithm>

#include "tests/peer/program.h"

namespace gv {
namespace {

const std::string ring = GV_SOURCE_DIR "/configs/quadratic-ring16.yaml";

TEST(PlanCommand, SaysWhatIsAhead) {
  const Ended plan = run({"plan", ring, "--set", "data.start=3", "--max-degree", "4", "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto json = plan.summary();
  EXPECT_NEAR(json.at("predicted").at("excess_loss_mean").get<double>(), 0.0064, 6e-6);
  EXPECT_GT(json.at("predicted").at("rounds_to_target").get<double>(), 0);
  ASSERT_EQ(json.at("alternatives").size(), 5U);
  for (const auto& other : json.at("alternatives")) {
    EXPECT_LE(other.at("degree").get<int>(), 4);
    EXPECT_LT(other.at("predicted").at("excess_loss_local").get<double>(),
              json.at("predicted").at("excess_loss_local").get<double>());
  }
  EXPECT_TRUE(json.at("warning").is_null());
}

TEST(PlanCommand, WarnsOfARateThatDiverges) {
  const Ended plan = run({"plan", ring, "--set", "train.optimizer.lr=0.7"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  const auto warns = [](const std::string& line) { return line.starts_with("warning: rate 0.7"); };
  EXPECT_EQ(std::ranges::count_if(plan.out, warns), 1);
}

TEST(PlanCommand, TakesATopologyInOneWord) {
  const Ended plan = run({"plan", ring, "--set", "topology=torus:4x4", "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(plan.summary().at("topology"), "torus:4x4");
}

}  // namespace
}  // namespace gv
