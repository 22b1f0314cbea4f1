#pragma once

#include <cstddef>
#include <cstdint>

#include "peer/bench/forked.h"

namespace gv {

/// Bare TCP between the neighbours of a ring of n processes, as a yardstick: per round each sends
/// its vector of `bytes` bytes to both neighbours and receives theirs into vectors of its own.
/// Plain sockets, one thread, pieces of 512 KiB, nothing checked and nothing computed.
void plain_streams(
    std::uint32_t rank, Gathering& gathering, std::size_t bytes, int warmup, int rounds);

}  // namespace gv
