#include "peer/record/unknown_figure.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "peer/fleet/json/json.h"
#include "peer/record/observer.h"

namespace gv {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Says the same of each model.
class Says : public Objective {
 public:
  explicit Says(double loss) : loss_(loss) {}
  std::vector<Parameter> parameters() const override { return {{"x", {2}}}; }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float>, Rng) const override {}
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override { return {.loss = loss_, .accuracy = {}}; }
  double gradient_flops(std::uint32_t) const override { return 0; }

 private:
  double loss_;
};

FleetRecord record_with(double loss) {
  std::optional<FleetRecord> record;
  Observer observer(
      1, std::make_unique<Says>(loss), [&](const FleetRecord& told) { record = told; });
  Report report;
  report.round = 1;
  report.model = std::make_shared<Buffer>(2 * sizeof(float));
  observer.take(std::move(report), Time{1});
  return record.value();
}

TEST(UnknownFigure, IsToldFromASumThatDiverged) {
  EXPECT_TRUE(std::isnan(unknown_figure()));
  EXPECT_TRUE(is_unknown(unknown_figure()));
  EXPECT_FALSE(is_unknown(nan));
  EXPECT_FALSE(is_unknown(0));
  EXPECT_EQ(Json(unknown_figure()).dump(), "null");
}

/// A fleet whose program says nothing of its model has not gone wrong, and ends with code 0.
TEST(UnknownFigure, IsNoRiseOfTheLoss) {
  EXPECT_FALSE(record_with(unknown_figure()).loss_rise);
  EXPECT_TRUE(is_unknown(record_with(unknown_figure()).mean.loss));
  EXPECT_TRUE(record_with(nan).loss_rise);
  EXPECT_TRUE(record_with(std::numeric_limits<double>::infinity()).loss_rise);
  EXPECT_FALSE(record_with(1).loss_rise);
}

}  // namespace
}  // namespace gv
