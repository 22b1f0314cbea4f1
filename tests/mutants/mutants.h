#pragma once

#include <string_view>
#include <vector>

#include "peer/runtime/peer_plan.h"
#include "peer/sim/world/sim_network.h"

namespace gv::mutants {

/// A deliberate bug: a peer, or its link layer in the simulator, with one wrong part.
struct Mutant {
  std::string_view name;
  PeerParts parts{};
  LinkParts links{};
  /// Kind of the method that has the bug; empty for averaging with neighbours.
  std::string_view method{};
  Time deadline{};     ///< deadline of that method's fleet; if set, liars are among the faults
  bool clips = false;  ///< whether that fleet clips the flows of distant neighbours
  std::string_view topology = "ring";
  PeerId peers = 6;
  /// Looks for damage that drawn fleets keep after an accident (peer/sim/swarm.h).
  bool after_accidents = false;
};

/// Returns all mutants.
const std::vector<Mutant>& all();
/// Returns the mutants of the link layer.
std::vector<Mutant> of_links();
/// Returns the peer parts of the mutant with this name. Throws std::invalid_argument if there is
/// none.
const PeerParts& parts_of(std::string_view name);

}  // namespace gv::mutants
