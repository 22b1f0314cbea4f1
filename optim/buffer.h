#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace gv {

/// Memory for buffers that is not ordinary heap memory: page-locked memory, from which a device
/// copies faster, or memory shared with neighbours on the same machine. Blocks are aligned to 64
/// bytes. Called by the thread that makes or drops a buffer; for a pool's buffers, its loop.
class BufferMemory {
 public:
  virtual ~BufferMemory() = default;
  virtual std::byte* allocate(std::size_t bytes) = 0;  ///< bytes > 0; throws if none is left
  virtual void release(std::byte* block) noexcept = 0;
  /// Returns whether another reader may still use a block whose buffer waits in a pool.
  virtual bool lent(const std::byte*) const { return false; }
  /// Called before a buffer in this block is filled again.
  virtual void renew(std::byte*) {}
};

/// A reusable block of bytes, aligned to 64; its last Payload returns it to its pool.
class Buffer {
 public:
  /// Allocates with size() == capacity(); `memory` is null for ordinary memory.
  explicit Buffer(std::size_t capacity_bytes, std::shared_ptr<BufferMemory> memory = nullptr);
  /// Takes over a block, to be returned to `memory`.
  Buffer(std::shared_ptr<BufferMemory> memory, std::byte* block, std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  /// Returns whether there is no other reader.
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
  Buffer* next_ = nullptr;  ///< next buffer in a pool's list of returned ones
};

/// Tests the bits, so that the compiler can vectorize.
bool all_finite(std::span<const float> values);

/// Immutable once sent: one copy serves every receiver.
using Payload = std::shared_ptr<const Buffer>;

/// Recycles buffers. They are acquired only on the peer's loop, but dropped on any thread:
/// simulated neighbours may run on several. Buffers may outlive the pool.
class BufferPool {
 public:
  /// Allocates buffers in `memory`; null for ordinary memory.
  explicit BufferPool(std::shared_ptr<BufferMemory> memory = nullptr);
  /// Returns a writable buffer of `bytes` bytes with unspecified content: the smallest idle one
  /// that fits (the last used of several), or a new one. Keeps at most 1024.
  std::shared_ptr<Buffer> acquire(std::size_t bytes);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

/// Allocates a small block of a few sizes: for coroutine frames and the counts of shared buffers. A
/// block given back waits in a list of its thread for its size; the last one, which is still in the
/// cache, is taken first. On the heap, such blocks took a fifth of the time of a simulation of
/// tens of thousands of peers. A list holds at most 4 MiB, since one thread may give back blocks
/// that another takes; the rest goes to the heap. So do blocks above the largest size, and all
/// blocks under the address sanitizer.
void* take_block(std::size_t bytes);
/// Gives a block back, with the `bytes` of take_block. From any thread.
void give_block(void* block, std::size_t bytes) noexcept;

/// An allocator with these blocks for the standard library.
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
