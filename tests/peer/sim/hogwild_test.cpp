#include <gtest/gtest.h>

#include "tests/peer/sim/method_runs.h"

namespace gv {
namespace {

Fleet fleet_of(PeerId n) {
  Fleet fleet = quadratic_fleet(n, "ring", "hogwild", "");
  fleet.data.kind = "sparse";
  fleet.data.train = 2000;
  fleet.data.test = 500;
  fleet.data.features = 300;
  fleet.data.noise = 0.02;
  fleet.model.kind = "logistic";
  fleet.local_steps = 500;
  fleet.optimizer.lr = 0.5;
  fleet.settings["threads"] = 3;
  fleet.stop.rounds = 20;
  return fleet;
}

double accuracy(const Fleet& fleet) {
  const Assembly assembly(fleet);
  Observer observer(fleet.size(), assembly.evaluator(), {});
  simulate(assembly, observer, {});
  return *observer.finals().begin()->second.evaluation.accuracy;
}

/// A single process is the paper's method; several are averaged.
TEST(Hogwild, LearnsAloneAndInCompany) {
  EXPECT_GT(accuracy(fleet_of(1)), 0.8);
  EXPECT_GT(accuracy(fleet_of(4)), 0.8);
}

TEST(Hogwild, RepeatsInVirtualTime) {
  EXPECT_EQ(run(fleet_of(4)).hash, run(fleet_of(4)).hash);
  Fleet other = fleet_of(4);
  other.settings["threads"] = 2;
  EXPECT_NE(run(other).hash, run(fleet_of(4)).hash);
}

TEST(Hogwild, RefusesWhatWouldTouchAllOfX) {
  EXPECT_NE(refusal(quadratic_fleet(4, "ring", "hogwild", "")).find("data of kind `libsvm`"),
            std::string::npos);
  for (const double momentum : {0.0, 0.9}) {
    Fleet fleet = fleet_of(4);
    fleet.optimizer.momentum = momentum;
    fleet.optimizer.weight_decay = momentum == 0 ? 1e-4 : 0;
    EXPECT_NE(refusal(fleet).find("plain steps"), std::string::npos);
  }
}

}  // namespace
}  // namespace gv
