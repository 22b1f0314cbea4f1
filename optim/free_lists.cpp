#include "optim/free_lists.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define GV_HEAP_ONLY 1
#else
#define GV_HEAP_ONLY 0
#endif

namespace gv {
namespace {

constexpr std::size_t step = 32;  ///< bytes between two sizes
constexpr std::size_t sizes = 64;
constexpr std::size_t most_bytes = std::size_t{4} << 20;  ///< of a list

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

/// The blocks of a thread; what is given back after its lists have ended goes to the heap.
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
