#include <cmath>

#include <gtest/gtest.h>

#include "peer/study/predict/calibrate/fleet_calibration.h"
#include "peer/study/predict/forecast/advice.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

BatchAdvice advice_for(const std::string& algorithm,
                       const std::string& order,
                       const Settings& settings = {}) {
  Fleet fleet = quadratic_fleet(8, "ring", algorithm, order);
  for (PeerSpec& peer : fleet.peers) peer.batch = 32;
  fleet.optimizer.lr = 0.1;
  fleet.settings = settings;
  fleet.stop.rounds = 1000;
  return batch_advice(Assembly(fleet));
}

TEST(BatchAdvice, ScalesTheRateByWhatCountsTogether) {
  const BatchAdvice all = advice_for("d-psgd", "atc");
  EXPECT_EQ(all.alone, 32);
  EXPECT_EQ(all.together, 256);
  EXPECT_NEAR(all.linear, 0.8, 1e-12);
  EXPECT_NEAR(all.square_root, 0.1 * std::sqrt(8.0), 1e-12);
  EXPECT_EQ(all.warmup, 100U) << "without samples: a tenth of the run";
}

TEST(BatchAdvice, CountsWhoseGradientsAStepTakes) {
  EXPECT_EQ(advice_for("all-reduce", "ring").together, 256);
  EXPECT_EQ(advice_for("parameter-server", "sync").together, 256);
  EXPECT_EQ(advice_for("parameter-server", "sync", {{"backup", 2}}).together, 192);
  EXPECT_EQ(advice_for("fedavg", "", {{"fraction", 0.25}}).together, 64);
  EXPECT_EQ(advice_for("decoupled-diloco", "").together, 256);
  EXPECT_EQ(advice_for("decoupled-diloco", "", {{"quorum", 2}}).together, 64);
  for (const char* alone : {"isolated", "downpour"}) {
    const BatchAdvice each = advice_for(alone, "");
    EXPECT_EQ(each.together, 32) << alone;
    EXPECT_EQ(each.linear, 0.1) << alone;
    EXPECT_EQ(each.warmup, 0U) << alone;
  }
}

TEST(BatchAdvice, WarmsUpForFiveEpochsOrATenthOfTheRun) {
  Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", "atc");
  fleet.data = {};
  fleet.data.train = 640;
  fleet.data.test = 10;
  fleet.model = {"softmax", {}};
  for (PeerSpec& peer : fleet.peers) peer.batch = 16;
  fleet.stop.rounds = 1000;
  EXPECT_EQ(batch_advice(Assembly(fleet)).warmup, 50U) << "ten steps are an epoch";
  fleet.stop.rounds = 200;
  EXPECT_EQ(batch_advice(Assembly(fleet)).warmup, 20U);
}

TEST(BatchAdvice, TheNoiseScaleIsNoiseOverTheSquareOfTheGradient) {
  FleetCalibration::Point point;
  point.at.noise = 3;  // for a minibatch of 8
  point.at.gradient_square = 0.5;
  EXPECT_EQ(noise_scale(point, 8), 48);
}

}  // namespace
}  // namespace gv
