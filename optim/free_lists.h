#pragma once

#include <cstddef>

namespace gv {

/// Small blocks of memory that come and go in few sizes: coroutine frames, the counts of shared
/// buffers. A block that is given back waits in its thread's list for its size, and the last one
/// given back, which is still in the cache, is the next one taken. With tens of thousands of
/// simulated peers the heap splits and joins such blocks all the time, which took a fifth of a
/// simulation. A list holds 4 MiB at the most, since one thread may give back what another takes;
/// the rest goes to the heap. So do blocks above the largest size, and all of them under the
/// address sanitizer.
void* take_block(std::size_t bytes);
/// Gives a block back. `bytes`: as taken. From any thread.
void give_block(void* block, std::size_t bytes) noexcept;

/// An allocator for what the standard library allocates.
template <class T>
struct FreeListAllocator {
  using value_type = T;
  FreeListAllocator() = default;
  template <class U>
  FreeListAllocator(const FreeListAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)
  static_assert(alignof(T) <= alignof(std::max_align_t));
  T* allocate(std::size_t n) { return static_cast<T*>(take_block(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { give_block(p, n * sizeof(T)); }
  bool operator==(const FreeListAllocator&) const = default;
};

}  // namespace gv
