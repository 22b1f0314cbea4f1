#pragma once

#include <string>

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
  fleet.topology = parse_topology(topology);
  fleet.algorithm = algorithm;
  fleet.order = order;
  fleet.stop.rounds = 3;
  return fleet;
}

}  // namespace gv
