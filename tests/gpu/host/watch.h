#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/gpu/host/host_cuda.h"

// Watches every access of every thread of a kernel, if kernels are compiled with -fsanitize=thread
// (GV_HOST_WATCH), and every range of a copy or a library. Two accesses, one of which writes, are a
// race unless ordered: those of one block by a barrier, those of two blocks by a counter after a
// fence, those of two streams by an event or a wait of the host. Any order of execution shows
// races.

namespace gv::host_cuda {

/// Steps that each stream has reached, by the streams' numbers.
using Clock = std::vector<std::uint32_t>;

/// The place of an operation among the others.
struct Place {
  std::uint32_t stream = 0;
  std::uint32_t step = 0;              ///< number in its stream, from 1 on
  std::shared_ptr<const Clock> after;  ///< operations that precede it
};

#ifdef GV_HOST_WATCH
/// Begins an operation, to which later watched accesses belong.
void begin_operation(const Place& place);
/// Begin a block of the running kernel, or its part between two barriers.
void begin_block(std::size_t number);
void begin_interval();
/// Assigns later accesses of this host thread to a thread of a block with this stack, or to the
/// host if it is null.
void begin_thread(const void* stack, std::size_t bytes);
/// Notes memory that a kernel may read besides the device's: its closure.
void know_body(const void* p, std::size_t bytes);
/// Watches the shared memory of a module's kernels.
void watch_shared(char* begin, char* end);
/// Forgets freed memory, so that it needs no room.
void forget(const void* p, std::size_t bytes);
/// Notes an access of a copy or a library.
void note_read(const void* p, std::size_t bytes);
void note_write(void* p, std::size_t bytes);
#else
inline void begin_operation(const Place&) {}
inline void begin_block(std::size_t) {}
inline void begin_interval() {}
inline void begin_thread(const void*, std::size_t) {}
inline void know_body(const void*, std::size_t) {}
inline void watch_shared(char*, char*) {}
inline void forget(const void*, std::size_t) {}
inline void note_read(const void*, std::size_t) {}
inline void note_write(void*, std::size_t) {}
#endif

/// Returns the number of the running thread in its block.
unsigned thread_in_block();
/// Returns whether p is one of the variables of blockIdx and the like.
bool is_place(const void* p);
/// Returns the bytes from p to the end of the device's piece that holds it; 0 if there is none.
std::size_t room_on_device(const void* p);
/// Returns whether p lies in the arena of the device's memory, and its offset there.
bool in_arena(const void* p, std::size_t& offset);
constexpr std::size_t arena_bytes = std::size_t{256} << 30;

}  // namespace gv::host_cuda
