#pragma once

#include <cstddef>
#include <cstdint>

#include "peer/study/bench/forked.h"

namespace gv {

/// Bare TCP between the neighbours of a ring of n processes, as a yardstick: per round each sends
/// its vector of `bytes` bytes to both neighbours and receives theirs into vectors of its own.
/// Plain sockets, one thread, pieces of 512 KiB, nothing checked and nothing computed.
/// `socket_buffer`: bytes asked for with SO_SNDBUF and SO_RCVBUF; 0: whatever the system gives.
/// What waits in a large one waits in memory and no longer in cache, so the best size is the
/// machine's.
void plain_streams(std::uint32_t rank,
                   Gathering& gathering,
                   int socket_buffer,
                   std::size_t bytes,
                   int warmup,
                   int rounds);

}  // namespace gv
