#pragma once

#include <string>

#include "graph/schedules.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// A fleet without a file: n peers, quadratic, three rounds.
inline Fleet quadratic_fleet(PeerId n,
                             const std::string& topology,
                             const std::string& algorithm,
                             const std::string& order) {
  Fleet fleet;
  fleet.path = "test";
  fleet.peers.assign(n, {});
  fleet.data.kind = "quadratic";
  fleet.model.kind = "quadratic";
  const ScheduleSpec spec = parse_schedule(topology);
  fleet.topology = spec.topology;
  if (is_schedule(topology)) fleet.schedule = spec;
  fleet.algorithm = algorithm;
  fleet.order = order;
  fleet.stop.rounds = 3;
  return fleet;
}

/// Peers whose rounds take about a millisecond and whose noise keeps their models apart, so that a
/// flow applied at one end only shows in the mean.
inline Fleet restless_fleet(PeerId n, const std::string& topology, const std::string& order) {
  Fleet fleet = quadratic_fleet(n, topology, "d-psgd", order);
  fleet.data.quadratic.dimension = 4;
  fleet.data.quadratic.noise = 10;
  fleet.data.quadratic.spread = 3;
  fleet.optimizer.lr = 0.1;
  fleet.network.latency = std::chrono::microseconds(300);
  fleet.network.bandwidth = 125e6;
  fleet.flops = 1e6;
  fleet.stop.rounds = 200;
  fleet.checkpoint.every = 10;
  fleet.faults.deadline = std::chrono::milliseconds(50);
  return fleet;
}

}  // namespace gv
