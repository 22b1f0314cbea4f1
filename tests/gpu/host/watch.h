#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/gpu/host/host_cuda.h"

// Who reads and writes what: every access of every thread of a kernel, where kernels are compiled
// with -fsanitize=thread (GV_HOST_WATCH), and every range that a copy or a library goes through.
// Two accesses of which one writes are a race where nothing orders them: no barrier those of one
// block, nothing those of two blocks, no event and no wait of the host those of two streams. It is
// found in whatever order they are carried out.

namespace gv::host_cuda {

/// The steps that each stream has come to, by the streams' numbers.
using Clock = std::vector<std::uint32_t>;

/// The place of an operation among the others.
struct Place {
  std::uint32_t stream = 0;
  std::uint32_t step = 0;              ///< in its stream, from 1 on
  std::shared_ptr<const Clock> after;  ///< the operations that come before it
};

#ifdef GV_HOST_WATCH
/// Begins this operation, to which belongs what is watched from now on.
void begin_operation(const Place& place);
/// Begins a block of the kernel under way, or the part of it between two barriers.
void begin_block(std::size_t number);
void begin_interval();
/// What this host thread does from now on is done by a thread of a block, which has this stack;
/// null: by the host.
void begin_thread(const void* stack, std::size_t bytes);
/// Notes what a kernel may read beside the device's memory: how it was called.
void know_body(const void* p, std::size_t bytes);
/// Shared memory of a module's kernels.
void watch_shared(char* begin, char* end);
/// Forgets what is freed, so that it needs no room.
void forget(const void* p, std::size_t bytes);
/// A copy or a library goes through this.
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

/// The number of the thread that runs, in its block.
unsigned thread_in_block();
/// Returns whether p is one of the places that blockIdx and its like are read from.
bool is_place(const void* p);
/// The bytes from p to the end of the device's piece that holds it; 0: none does.
std::size_t room_on_device(const void* p);
/// Returns whether p lies in what the device's memory is taken from, and how far into it.
bool in_arena(const void* p, std::size_t& offset);
constexpr std::size_t arena_bytes = std::size_t{256} << 30;

}  // namespace gv::host_cuda
