#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/sim/injecting.h"

namespace gv {

/// Returns a fleet of quadratics without noise. Only its last peer has this speed.
inline Fleet beside_a_slow_peer(PeerId n,
                                const std::string& graph,
                                const std::string& kind,
                                double speed = 0.01,
                                Time deadline = std::chrono::milliseconds(3)) {
  Fleet fleet = quadratic_fleet(n, graph, kind, "");
  fleet.data.quadratic = {
      .dimension = 4, .hessian = {1, 0.5}, .noise = 0, .spread = 1, .start = 0.5, .centers = {}};
  fleet.optimizer.lr = 0.1;
  fleet.network.latency = std::chrono::milliseconds(1);
  fleet.flops = 1e6;
  fleet.peers.back().speed = speed;
  fleet.faults.deadline = deadline;
  fleet.stop.rounds = 600;
  return fleet;
}

/// Returns the largest last coordinate of any peer in this fleet, or 1e300 if one is not finite.
inline double largest_coordinate(const Fleet& fleet) {
  const Assembly assembly(fleet);
  Observer observer(fleet.size(), assembly.evaluator(), {});
  EXPECT_EQ(simulate(assembly, observer, injecting({})).violations, std::vector<std::string>{});
  double largest = 0;
  for (const auto& [peer, report] : observer.finals())
    for (const float x : report.model->floats())
      largest = std::max(largest, std::isfinite(x) ? std::abs(double{x}) : 1e300);
  return largest;
}

}  // namespace gv
