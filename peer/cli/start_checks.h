#pragma once

#include <cstdint>
#include <optional>

#include "peer/runtime/assembly.h"

namespace gv::cli {

/// Open files that the processes of a run need, the launcher's and each peer's of this machine.
std::uint64_t files_of_run(const Assembly& fleet);
std::uint64_t files_of_peer(const Assembly& fleet, PeerId id);

/// The least that so many peers take of this machine's memory, bytes: x and gradient.
double least_bytes(const Assembly& fleet, std::uint64_t peers);

/// Throws std::runtime_error with both figures where memory and swap together cannot hold that;
/// nothing is refused that could get through. `free`, `swap`: bytes; nothing: not known.
void check_memory(double least,
                  std::optional<std::uint64_t> free,
                  std::optional<std::uint64_t> swap);

/// Checks, before anything is made or started, that this machine can hold what lives on it.
void check_run_fits(const Assembly& fleet);
void check_peer_fits(const Assembly& fleet, PeerId id);

}  // namespace gv::cli
