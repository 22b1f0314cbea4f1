#pragma once

#include <cstdint>

namespace gv {

/// The files that a process which starts peers needs for each: its three streams, its vectors, its
/// end and its log. The second is for all else, those that come and go at once included.
inline constexpr std::uint64_t files_per_child = 6;
inline constexpr std::uint64_t files_besides = 64;
/// The files of a peer for each neighbour: the connection, and the socket that shares memory.
inline constexpr std::uint64_t files_per_neighbor = 2;

/// Makes sure that this process, and those that it starts, may each have so many files, sockets and
/// pipes open: within what the system allows it raises the limit. Throws std::runtime_error with
/// both numbers where that is too little: otherwise a run would fail somewhere on its way.
void need_open_files(std::uint64_t count);

}  // namespace gv
