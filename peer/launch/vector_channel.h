#pragma once

#include <cstddef>
#include <span>

#include "optim/buffer.h"

namespace gv {

// The vectors of a peer's reports go to its launcher through memory, beside the JSON lines of
// control.h: a full disk costs no report. Each is a file in memory whose descriptor travels
// over a socket; or several, each with a byte that says how many follow, where a limit of the size
// of files (ulimit -f) is smaller.

/// The descriptor at which a launched peer finds its end of the socket.
inline constexpr int vector_descriptor = 3;

/// Hands the vector over. Throws std::runtime_error when there is no memory for it; a launcher that
/// has gone is no error.
void send_vector(int socket, std::span<const float> values);
/// Returns the next vector that was sent, in the order of sending. Returns null if there is none,
/// or if it has more than `most_bytes`, which is checked before any memory is taken for it.
Payload receive_vector(int socket, std::size_t most_bytes);

}  // namespace gv
