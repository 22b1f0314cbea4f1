#include "optim/unknown_figure.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "peer/fleet/json/json.h"
#include "peer/record/observer.h"

namespace gv {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Returns one loss after the other.
class Says : public Objective {
 public:
  explicit Says(std::vector<double> losses) : losses_(std::move(losses)) {}
  std::vector<Parameter> parameters() const override { return {{"x", {2}}}; }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float>, Rng) const override {}
  double value_and_gradient(std::span<const float>, std::uint32_t, std::span<float>) override {
    return 0;
  }
  Evaluation evaluate(std::span<const float>) override {
    return {.loss = losses_.at(said_++), .accuracy = {}};
  }
  double gradient_flops(std::uint32_t) const override { return 0; }

 private:
  std::vector<double> losses_;
  std::size_t said_ = 0;
};

/// Returns the last record of a run with these losses.
FleetRecord record_after(const std::vector<double>& losses) {
  std::optional<FleetRecord> record;
  Observer observer(1, std::make_unique<Says>(losses),
                    [&](const FleetRecord& told) { record = told; });
  for (Round round = 1; round <= losses.size(); ++round) {
    Report report;
    report.round = round;
    report.model = std::make_shared<Buffer>(2 * sizeof(float));
    observer.take(std::move(report), Time{1});
  }
  return record.value();
}

FleetRecord record_with(double loss) {
  return record_after({loss});
}

TEST(UnknownFigure, IsToldFromASumThatDiverged) {
  EXPECT_TRUE(std::isnan(unknown_figure()));
  EXPECT_TRUE(is_unknown(unknown_figure()));
  EXPECT_FALSE(is_unknown(nan));
  EXPECT_FALSE(is_unknown(0));
  EXPECT_EQ(Json(unknown_figure()).dump(), "null");
}

/// A fleet whose program does not evaluate its model has not failed, and ends with code 0.
TEST(UnknownFigure, IsNoRiseOfTheLoss) {
  EXPECT_FALSE(record_with(unknown_figure()).loss_rise);
  EXPECT_TRUE(is_unknown(record_with(unknown_figure()).mean.loss));
  EXPECT_TRUE(record_with(nan).loss_rise);
  EXPECT_TRUE(record_with(std::numeric_limits<double>::infinity()).loss_rise);
  EXPECT_FALSE(record_with(1).loss_rise);
}

/// The loss of a fleet at its optimum changes by rounding.
TEST(LossRise, IsNoneInWhatRoundingDoes) {
  for (const double rest : {0.0, 1e-16, 1e-13})
    EXPECT_FALSE(record_after({rest, rest, rest, 1000 * rest, 2.84e-14}).loss_rise) << rest;
  EXPECT_TRUE(record_after({1e-8, 1e-8, 1e-8, 2e-6}).loss_rise);
  EXPECT_TRUE(record_after({2, 1, 0.5, 200}).loss_rise);
  EXPECT_FALSE(record_after({2, 1, 0.5, 20}).loss_rise);
}

}  // namespace
}  // namespace gv
