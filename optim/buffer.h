#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace gv {

/// A place for buffers that is not ordinary memory: a device copies faster from memory that is
/// locked for it, and neighbours on the same machine read what is shared with them. Blocks are
/// aligned to 64 bytes. Calls come from whatever thread makes or drops a buffer; of a pool's, all
/// from its loop.
class BufferMemory {
 public:
  virtual ~BufferMemory() = default;
  virtual std::byte* allocate(std::size_t bytes) = 0;  ///< bytes > 0; throws when there is none
  virtual void release(std::byte* block) noexcept = 0;
  /// Tells whether somebody else may still read a block whose buffer waits on the shelf of a pool.
  virtual bool lent(const std::byte*) const { return false; }
  /// A buffer in this block is about to be filled again.
  virtual void renew(std::byte*) {}
};

/// A block of bytes, aligned to 64, whose capacity outlives its use: returned to its pool by the
/// last Payload.
class Buffer {
 public:
  /// size() == capacity(). memory: null for the ordinary one.
  explicit Buffer(std::size_t capacity_bytes, std::shared_ptr<BufferMemory> memory = nullptr);
  /// Takes over a block that `memory` will have back.
  Buffer(std::shared_ptr<BufferMemory> memory, std::byte* block, std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  /// Nobody else reads it.
  bool idle() const { return !memory_ || !memory_->lent(data_); }
  void renew() {
    if (memory_) memory_->renew(data_);
  }
  void resize(std::size_t bytes);  ///< bytes <= capacity(); the content stays

  std::span<float> floats() { return {reinterpret_cast<float*>(data_), size_ / sizeof(float)}; }
  std::span<const float> floats() const {
    return {reinterpret_cast<const float*>(data_), size_ / sizeof(float)};
  }

 private:
  friend class BufferPool;
  std::shared_ptr<BufferMemory> memory_;
  std::byte* data_;
  std::size_t size_ = 0;
  std::size_t capacity_;
  Buffer* next_ = nullptr;  ///< of those that have come back to a pool
};

/// Looks at the bits, so that the compiler may take eight at a time.
bool all_finite(std::span<const float> values);

/// Immutable once sent: one copy serves every receiver.
using Payload = std::shared_ptr<const Buffer>;

/// Recycles buffers. They are taken on the peer's loop only, and dropped on any thread: simulated
/// neighbours may run on several. Buffers may outlive the pool.
class BufferPool {
 public:
  /// Its buffers lie in `memory`; null: the ordinary one.
  explicit BufferPool(std::shared_ptr<BufferMemory> memory = nullptr);
  /// A writable buffer of `bytes` bytes, its content unspecified: of the smallest kept ones that
  /// fit and that nobody reads any more, the last used; or a new one. At most 1024 are kept.
  std::shared_ptr<Buffer> acquire(std::size_t bytes);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

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
