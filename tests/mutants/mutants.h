#pragma once

#include <string_view>
#include <vector>

#include "peer/runtime/peer_plan.h"
#include "peer/sim/sim_carrier.h"

namespace gv::mutants {

/// A deliberate bug: a peer, or its link layer in the simulator, with one part that does not what
/// it should.
struct Mutant {
  std::string_view name;
  PeerParts parts{};
  LinkParts links{};
  /// The kind of the method in which it is a bug; empty: averaging with neighbours.
  std::string_view method{};
  Time deadline{};     ///< of the fleet of that method; with one, liars are among the faults
  bool clips = false;  ///< that fleet clips the flows of neighbours that are far away
  std::string_view topology = "ring";
  PeerId peers = 6;
  /// It is looked for in what is left of drawn fleets after an accident (peer/sim/healing.h).
  bool after_accidents = false;
};

/// All of them.
const std::vector<Mutant>& all();
/// Returns those of the link layer.
std::vector<Mutant> of_links();
/// The parts of the peer of this name. Throws std::invalid_argument when there is none.
const PeerParts& parts_of(std::string_view name);

}  // namespace gv::mutants
