#include "optim/buffer.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "optim/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define GV_HEAP_ONLY 1
#else
#define GV_HEAP_ONLY 0
#endif

namespace gv {
namespace {

constexpr std::align_val_t alignment{64};
constexpr std::size_t limit = 1024;

std::byte* allocate(BufferMemory* memory, std::size_t bytes) {
  if (memory != nullptr) return memory->allocate(bytes);
  return static_cast<std::byte*>(::operator new(bytes, alignment));
}

constexpr std::size_t step = 32;  ///< bytes between two sizes
constexpr std::size_t sizes = 64;
constexpr std::size_t most_bytes = std::size_t{4} << 20;  ///< per list

struct Free {
  Free* next;
};

std::size_t class_of(std::size_t bytes) {
  return GV_HEAP_ONLY != 0 ? sizes : std::max<std::size_t>(1, (bytes + step - 1) / step);
}

struct List {
  Free* head = nullptr;
  std::size_t count = 0;
};

/// The blocks of a thread. After its lists have ended, blocks go back to the heap.
struct Lists {
  std::array<List, sizes> of_size{};
  bool ended = false;
  ~Lists() {
    ended = true;
    for (List& list : of_size)
      while (list.head != nullptr) ::operator delete(std::exchange(list.head, list.head->next));
  }
};

thread_local Lists lists;

}  // namespace

Buffer::Buffer(std::size_t capacity_bytes, std::shared_ptr<BufferMemory> memory)
    : memory_(std::move(memory)),
      data_(allocate(memory_.get(), std::max<std::size_t>(capacity_bytes, 1))),
      size_(capacity_bytes),
      capacity_(capacity_bytes) {}

Buffer::Buffer(std::shared_ptr<BufferMemory> memory, std::byte* block, std::size_t bytes)
    : memory_(std::move(memory)), data_(block), size_(bytes), capacity_(bytes) {}

Buffer::~Buffer() {
  if (memory_)
    memory_->release(data_);
  else
    ::operator delete(data_, alignment);
}

bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t exponent = 0x7f800000;
  std::uint32_t bad = 0;
  for (const float value : values)
    bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & exponent) == exponent);
  return bad == 0;
}

void Buffer::resize(std::size_t bytes) {
  GV_CHECK(bytes <= capacity_, "a buffer does not grow");
  size_ = bytes;
}

/// A list without a lock: threads that drop buffers push them, the owner takes the whole list.
struct BufferPool::Shelf {
  std::shared_ptr<BufferMemory> memory;
  std::vector<std::unique_ptr<Buffer>> free;  ///< oldest first
  std::atomic<Buffer*> returned = nullptr;    ///< newest first

  ~Shelf() { collect(); }

  /// Collects returned buffers; drops the oldest of too many, so that unused sizes do not stay.
  void collect() {
    const std::size_t known = free.size();
    for (Buffer* each = returned.exchange(nullptr, std::memory_order_acquire); each != nullptr;)
      free.emplace_back(std::exchange(each, each->next_));
    std::reverse(free.begin() + static_cast<std::ptrdiff_t>(known), free.end());
    if (free.size() > limit)
      free.erase(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(free.size() - limit));
  }

  std::unique_ptr<Buffer> take(std::size_t bytes) {
    collect();
    std::size_t best = free.size();
    for (std::size_t i = free.size(); i-- > 0;) {
      const std::size_t capacity = free[i]->capacity();
      const bool better = best == free.size() || capacity < free[best]->capacity();
      if (capacity >= bytes && better && free[i]->idle()) best = i;
      if (best == i && capacity == bytes) break;
    }
    if (best == free.size()) return std::make_unique<Buffer>(bytes, memory);
    std::unique_ptr<Buffer> buffer = std::move(free[best]);
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(best));
    return buffer;
  }

  void put(Buffer* buffer) noexcept {
    buffer->next_ = returned.load(std::memory_order_relaxed);
    while (!returned.compare_exchange_weak(buffer->next_, buffer, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
  }
};

BufferPool::BufferPool(std::shared_ptr<BufferMemory> memory) : shelf_(std::make_shared<Shelf>()) {
  shelf_->memory = std::move(memory);
}

std::shared_ptr<Buffer> BufferPool::acquire(std::size_t bytes) {
  std::unique_ptr<Buffer> buffer = shelf_->take(bytes);
  buffer->resize(bytes);
  buffer->renew();
  const auto give_back = [home = std::weak_ptr<Shelf>(shelf_)](Buffer* used) {
    const std::shared_ptr<Shelf> shelf = home.lock();
    shelf ? shelf->put(used) : delete used;
  };
  return {buffer.release(), give_back, FreeListAllocator<Buffer>()};
}

void* take_block(std::size_t bytes) {
  const std::size_t size = class_of(bytes);
  if (size >= sizes) return ::operator new(bytes);
  List& list = lists.of_size[size];
  if (list.head == nullptr) return ::operator new(size* step);
  --list.count;
  return std::exchange(list.head, list.head->next);
}

void give_block(void* block, std::size_t bytes) noexcept {
  const std::size_t size = class_of(bytes);
  if (size >= sizes || lists.ended) return ::operator delete(block);
  List& list = lists.of_size[size];
  if (list.count * size * step >= most_bytes) return ::operator delete(block);
  ++list.count;
  list.head = ::new (block) Free{list.head};
}

}  // namespace gv
