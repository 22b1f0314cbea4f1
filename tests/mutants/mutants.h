#pragma once

#include <string_view>
#include <vector>

#include "peer/runtime/peer_parts.h"

namespace gv::mutants {

/// A deliberate bug: a peer with one part that does not what it should.
struct Mutant {
  std::string_view name;
  PeerParts parts;
};

/// All of them.
const std::vector<Mutant>& all();
/// The parts of the one of this name. Throws std::invalid_argument when there is none.
const PeerParts& parts_of(std::string_view name);

}  // namespace gv::mutants
