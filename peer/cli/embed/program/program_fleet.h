#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peer/cli/embed/calls/call_arguments.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv::embed {

/// Fleet of a program's process, and the peer that the process is.
struct ProgramFleet {
  Fleet fleet;
  PeerId id = 0;
  /// The fleet before the program has described its model: graph, weights and method.
  std::shared_ptr<const Assembly> outline;
};

/// Throws Fault (GV_E_FLEET, GV_E_USE) if the file is wrong or does not have the peer.
ProgramFleet open_fleet(const OpenWords& words);

/// Builds the fleet with the program's model. Throws Fault (GV_E_FLEET).
std::unique_ptr<const Assembly> assemble(const ProgramFleet& of, ProgramModel model);

/// Returns peer `id`'s rows of n; `labels`: n, or none. Throws Fault (GV_E_USE, GV_E_FLEET).
std::vector<std::uint32_t> rows_of(const ProgramFleet& of,
                                   std::span<const std::int32_t> labels,
                                   std::size_t n);

/// Returns the address and port to listen at: from the words, or its host's in the fleet file.
std::pair<std::string, std::uint16_t> listens_at(const ProgramFleet& of, const OpenWords& words);

}  // namespace gv::embed
