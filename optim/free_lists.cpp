#include "optim/free_lists.h"

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

struct Free {
  Free* next;
};

std::size_t class_of(std::size_t bytes) {
  return GV_HEAP_ONLY != 0 ? sizes : (bytes + step - 1) / step;
}

/// What is given back after its thread's lists have ended goes to the heap.
struct Lists {
  std::array<Free*, sizes> heads{};
  bool ended = false;
  ~Lists() {
    ended = true;
    for (Free*& head : heads)
      while (head != nullptr) ::operator delete(std::exchange(head, head->next));
  }
};

thread_local Lists lists;

}  // namespace

void* take_block(std::size_t bytes) {
  const std::size_t size = class_of(bytes);
  if (size >= sizes) return ::operator new(bytes);
  Free*& head = lists.heads[size];
  if (head == nullptr) return ::operator new(size* step);
  return std::exchange(head, head->next);
}

void give_block(void* block, std::size_t bytes) noexcept {
  const std::size_t size = class_of(bytes);
  if (size >= sizes || lists.ended) return ::operator delete(block);
  lists.heads[size] = ::new (block) Free{lists.heads[size]};
}

}  // namespace gv
