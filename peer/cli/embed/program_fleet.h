#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "peer/cli/embed/program_words.h"
#include "peer/runtime/assembly.h"

namespace gv::embed {

/// The fleet of a program's process, and which of its peers that is.
struct ProgramFleet {
  Fleet fleet;
  PeerId id = 0;
  /// The fleet as it is before the program has said what it trains: graph, weights and method.
  std::shared_ptr<const Assembly> outline;
};

/// Throws Fault (GV_E_FLEET, GV_E_USE) with what is wrong with the file, or why the peer is none of
/// it.
ProgramFleet open_fleet(const OpenWords& words);

/// Makes the fleet ready with the program's model. Throws Fault (GV_E_FLEET).
std::unique_ptr<const Assembly> assemble(const ProgramFleet& of, ProgramModel model);

/// The rows of a data set of n that are peer `id`'s; `labels`: n, or none. Throws Fault (GV_E_USE,
/// GV_E_FLEET).
std::vector<std::uint32_t> rows_of(const ProgramFleet& of,
                                   std::span<const std::int32_t> labels,
                                   std::size_t n);

/// Returns the address and port where it listens: by the words, or by its host in the fleet file.
std::pair<std::string, std::uint16_t> listens_at(const ProgramFleet& of, const OpenWords& words);

}  // namespace gv::embed
