#pragma once

#include <cstdint>
#include <optional>

#include "peer/runtime/assembly/assembly.h"

namespace gv::cli {

/// Returns the open files that the processes of a run need: the launcher's, and each peer's here.
std::uint64_t files_of_run(const Assembly& fleet);
std::uint64_t files_of_peer(const Assembly& fleet, PeerId id);

/// Returns the minimum memory of this number of peers on this machine, bytes: x and gradient.
double least_bytes(const Assembly& fleet, std::uint64_t peers);

/// Throws std::runtime_error with both figures if memory and swap together are too small; whatever
/// could possibly fit is allowed. `free`, `swap`: bytes, or nothing if unknown.
void check_memory(double least,
                  std::optional<std::uint64_t> free,
                  std::optional<std::uint64_t> swap);

/// Checks, before anything is made or started, that this machine can hold its peers.
void check_run_fits(const Assembly& fleet);
void check_peer_fits(const Assembly& fleet, PeerId id);

}  // namespace gv::cli
