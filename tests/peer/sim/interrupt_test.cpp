#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

/// Every peer reports at its end, at whatever time the fleet is stopped. Peers are then in
/// different rounds, and some have begun exchanges that others no longer join.
TEST(Interrupted, AFleetEndsWheneverItIsStopped) {
  for (const char* order : {"lian", "atc"}) {
    Fleet file = quadratic_fleet(16, "torus:4x4", "d-psgd", order);
    file.data.quadratic.dimension = 50'000;
    file.data.quadratic.spread = 1;
    file.network.latency = std::chrono::milliseconds(1);
    file.network.bandwidth = 1e8;
    file.stop.rounds = 100'000;
    file.evaluate_every = 3;
    const Assembly fleet(file);
    for (int polls = 1; polls < 120; ++polls) {
      Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
      SimulationOptions options;
      options.threads = 1;
      int left = polls;
      options.interrupted = [&] { return --left <= 0; };
      const SimulationResult result = simulate(fleet, observer, options);
      EXPECT_TRUE(result.interrupted);
      EXPECT_EQ(observer.finals().size(), 16U) << order << ", stopped at poll " << polls;
      ASSERT_TRUE(observer.summary().has_value());
    }
  }
}

/// Networks are evaluated by jobs between two rounds, and must end too.
TEST(Interrupted, NetworksEndWheneverTheyAreStopped) {
  Fleet file = quadratic_fleet(16, "torus:4x4", "d-psgd", "lian");
  file.data.kind = "digits";
  file.data.train = 640;
  file.data.test = 50;
  file.data.classes = 10;
  file.model.kind = "mlp";
  file.model.values["hidden"] = Widths{32};
  file.optimizer.momentum = 0.9;
  file.stop.rounds = 100'000;
  file.evaluate_every = 3;
  file.network.latency = std::chrono::milliseconds(1);
  file.network.bandwidth = 1e8;
  const Assembly fleet(file);
  for (int polls = 1; polls < 150; ++polls) {
    Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
    SimulationOptions options;
    options.threads = 2;
    int left = polls;
    options.interrupted = [&] { return --left <= 0; };
    simulate(fleet, observer, options);
    ASSERT_EQ(observer.finals().size(), 16U) << "stopped at poll " << polls;
  }
}

}  // namespace
}  // namespace gv
