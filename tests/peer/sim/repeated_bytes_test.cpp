#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"
#include "peer/study/simulated_run.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

FleetRecord end_of(const Fleet& file) {
  const Assembly fleet(file);
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.faults = injected_faults(fleet);
  simulate(fleet, observer, options);
  return *observer.summary();
}

/// Bytes lost in a cut are sent again and counted apart. Bytes that were only kept are not.
TEST(RepeatedBytes, AreThoseThatACutTookAlong) {
  Fleet fleet = quadratic_fleet(4, "ring", "d-psgd", "");
  fleet.data.quadratic.dimension = 1000;
  fleet.network.latency = milliseconds(2);
  fleet.stop.rounds = 100;
  const FleetRecord whole = end_of(fleet);
  EXPECT_EQ(whole.costs.repeated_bytes, 0U);
  fleet.faults.inject = {{.at = milliseconds(51),
                          .kind = Injection::Kind::cut,
                          .peer = 0,
                          .other = 1,
                          .length = milliseconds(300)}};
  const FleetRecord cut = end_of(fleet);
  EXPECT_GT(cut.costs.repeated_bytes, 0U);
  EXPECT_LT(cut.costs.repeated_bytes, 20U * 4100) << "a few messages of each end at the most";
}

}  // namespace
}  // namespace gv
