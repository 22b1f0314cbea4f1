// Runs a grid's blocks one after the other; a block's threads are fibers, which stop at barriers
// and shuffles.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "tests/gpu/host/streams.h"
#include "tests/gpu/host/watch.h"

#ifndef __x86_64__
#error "fibers are written for x86-64"
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the registers that a call must preserve, and continues on another stack.
extern "C" void gv_host_switch(void** from, void* to);
asm(R"(
.text
.globl gv_host_switch
.type gv_host_switch,@function
gv_host_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gv_host_switch,.-gv_host_switch
.section .note.GNU-stack,"",@progbits
.text
)");

namespace gv::host_cuda {

Places places;

namespace {

constexpr std::size_t stack_bytes = 64 << 10;
constexpr unsigned warp = 32;

/// A stack that runs threads, one after the other until a thread stops.
struct Fiber {
  enum class At : std::uint8_t { nowhere, barrier, shuffle };
  void* top = nullptr;    ///< top of the stack, while it does not run
  char* stack = nullptr;  ///< lowest byte
  std::size_t bytes = 0;
  void* fake_stack = nullptr;  ///< stack of the address sanitizer
  At at = At::nowhere;
  unsigned thread = 0;
  unsigned mask = 0, from = 0;       ///< arguments of a shuffle
  std::uint32_t value = 0, got = 0;  ///< values given and received in a shuffle
};

/// The running block.
struct Block {
  const std::function<void()>* body = nullptr;
  std::vector<unsigned> order;  ///< thread numbers in order
  unsigned next = 0;            ///< index in `order` of the first thread that has not begun
  unsigned ended = 0;
  unsigned at_barrier = 0;
  const char* barrier = nullptr;  ///< barrier of the waiting threads
  std::vector<Fiber*> stopped;    ///< by thread; null if it runs, has ended or has not begun
  std::vector<char> has_ended;
  std::vector<unsigned> going_on;  ///< threads that may leave their barrier or shuffle, in order
  std::size_t gone = 0;            ///< number of threads that have left
  unsigned threads() const { return static_cast<unsigned>(order.size()); }
};

Block block;
Fiber root;  ///< runs the grid
Fiber* current = &root;
[[maybe_unused]] Fiber* previous = &root;  ///< fiber that ran before
std::vector<Fiber*> idle;
/// Every module's shared memory.
struct Shared {
  char* begin;
  char* end;
};
std::vector<Shared>& all_shared() {
  static std::vector<Shared> all;
  return all;
}

std::string here() {
  return " (block " + std::to_string(places.block.x) + " of " + std::to_string(places.grid.x) +
         ", thread " + std::to_string(places.thread.x) + " of " + std::to_string(places.threads.x) +
         ")";
}

void arrived() {
#ifdef __SANITIZE_ADDRESS__
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(current->fake_stack, &bottom, &bytes);
  if (previous != &root) return;
  root.stack = const_cast<char*>(static_cast<const char*>(bottom));  // this host thread's stack
  root.bytes = bytes;
#endif
}

void switch_to(Fiber& to) {
  Fiber& from = *current;
  previous = &from;
  current = &to;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.bytes);
#endif
  gv_host_switch(&from.top, to.top);
  arrived();
}

Fiber& idle_fiber();

/// Returns the fiber to run after a thread has stopped: a thread that may continue, a new thread,
/// or the root.
Fiber& next_fiber() {
  Fiber* fiber = nullptr;
  if (block.gone < block.going_on.size()) {
    const unsigned thread = block.going_on[block.gone++];
    fiber = std::exchange(block.stopped[thread], nullptr);
    places.thread = {thread, 0, 0};
  } else if (block.next < block.threads()) {
    fiber = &idle_fiber();
  } else {
    begin_thread(nullptr, 0);
    return root;
  }
  begin_thread(fiber->stack, fiber->bytes);
  return *fiber;
}

/// Runs every thread until it ends or waits at a barrier or a shuffle.
void run_all() {
  switch_to(next_fiber());
}

/// Runs new threads on this fiber until one stops.
void run_threads() {
  arrived();
  for (;;) {
    while (block.next < block.threads()) {
      const unsigned thread = block.order[block.next++];
      current->thread = thread;
      places.thread = {thread, 0, 0};
      (*block.body)();
      block.has_ended[current->thread] = 1;
      ++block.ended;
    }
    Fiber& next = next_fiber();
    idle.push_back(current);
    switch_to(next);
  }
}

Fiber& idle_fiber() {
  if (!idle.empty()) {
    Fiber& fiber = *idle.back();
    idle.pop_back();
    return fiber;
  }
  static std::vector<Fiber*>& all = *new std::vector<Fiber*>;  // reachable until the program ends
  Fiber& fiber = *all.emplace_back(new Fiber);
  void* const at =
      ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) problem("there is no room for a thread's stack");
  fiber.stack = static_cast<char*>(at);
  fiber.bytes = stack_bytes;
  auto** top = reinterpret_cast<void**>(fiber.stack + stack_bytes - 64);
  *--top = nullptr;  // aligns the stack for run_threads
  *--top = reinterpret_cast<void*>(&run_threads);
  for (int registers = 0; registers < 6; ++registers) *--top = nullptr;
  fiber.top = top;
  return fiber;
}

void stop(Fiber::At at) {
  current->at = at;
  block.stopped[current->thread] = current;
  switch_to(next_fiber());
  current->at = Fiber::At::nowhere;
}

void let_go_on(std::vector<unsigned> threads) {
  block.going_on = std::move(threads);
  block.gone = 0;
  run_all();
}

/// Lets all threads leave their barrier, if all have reached it.
bool pass_barrier() {
  if (block.at_barrier == 0 || block.at_barrier + block.ended < block.threads()) return false;
  if (block.ended > 0) problem("a barrier that not every thread of the block reaches" + here());
  block.at_barrier = 0;
  begin_interval();
  if (settings().threads == Order::random) std::ranges::shuffle(block.order, draws());
  let_go_on(block.order);
  return true;
}

/// Returns the threads that a lane of the warp at `first` needs for its shuffle; empty if one is
/// still missing.
std::vector<unsigned> shuffled_with(unsigned first, const Fiber& lane) {
  std::vector<unsigned> threads;
  for (unsigned l = 0; l < warp; ++l) {
    if ((lane.mask >> l & 1U) == 0) continue;
    const unsigned thread = first + l;
    if (thread >= block.threads() || block.has_ended[thread] != 0)
      problem("a shuffle waits for a lane that has ended" + here());
    const Fiber* const other = block.stopped[thread];
    if (other == nullptr || other->at != Fiber::At::shuffle || other->mask != lane.mask) return {};
    threads.push_back(thread);
  }
  return threads;
}

/// Performs one shuffle whose lanes have all arrived.
bool pass_shuffle() {
  for (unsigned thread = 0; thread < block.threads(); ++thread) {
    const Fiber* const lane = block.stopped[thread];
    if (lane == nullptr || lane->at != Fiber::At::shuffle) continue;
    const unsigned first = thread / warp * warp;
    const std::vector<unsigned> together = shuffled_with(first, *lane);
    if (together.empty()) continue;
    for (const unsigned one : together) {
      Fiber& to = *block.stopped[one];
      if ((to.mask >> to.from & 1U) == 0)
        problem("a shuffle from a lane that takes no part" + here());
      to.got = block.stopped[first + to.from]->value;
    }
    let_go_on(together);
    return true;
  }
  return false;
}

void run_block() {
  block.next = block.ended = block.at_barrier = 0;
  std::ranges::fill(block.stopped, nullptr);
  std::ranges::fill(block.has_ended, 0);
  begin_block(places.block.x);
  for (const Shared& shared : all_shared())
    std::fill(shared.begin, shared.end, static_cast<char>(0xFF));
  if (settings().threads == Order::random) std::ranges::shuffle(block.order, draws());
  block.going_on.clear();
  block.gone = 0;
  run_all();
  while (block.ended < block.threads())
    if (!pass_barrier() && !pass_shuffle())
      problem("threads of a block wait for one another" + here());
}

std::vector<unsigned> in_order(std::size_t count, Order order) {
  std::vector<unsigned> numbers(count);
  for (std::size_t k = 0; k < count; ++k)
    numbers[k] = static_cast<unsigned>(order == Order::down ? count - 1 - k : k);
  if (order == Order::random) std::ranges::shuffle(numbers, draws());
  return numbers;
}

}  // namespace

void barrier(const char* where) {
  if (block.at_barrier > 0 && block.barrier != where && std::string_view(block.barrier) != where)
    problem(std::string("threads of a block wait at different barriers, ") + block.barrier +
            " and " + where + here());
  block.barrier = where;
  ++block.at_barrier;
  stop(Fiber::At::barrier);
}

unsigned lane() {
  return current->thread % warp;
}

unsigned thread_in_block() {
  return current->thread;
}

bool is_place(const void* p) {
  return p >= &places && p < &places + 1;
}

void know_shared(char* begin, char* end) {
  if (begin == nullptr) return;
  for (const Shared& shared : all_shared())
    if (shared.begin == begin) return;
  all_shared().push_back({begin, end});
  watch_shared(begin, end);
}

std::uint32_t shuffle(unsigned mask, std::uint32_t value, unsigned from) {
  if ((mask >> lane() & 1U) == 0) problem("a shuffle whose mask lacks its own lane" + here());
  current->mask = mask;
  current->value = value;
  current->from = from % warp;
  stop(Fiber::At::shuffle);
  return current->got;
}

void run_grid(std::size_t blocks, unsigned threads, const std::function<void()>& body) {
  ++counts().kernels;
  counts().blocks += blocks;
  block.body = &body;
  know_body(&body, sizeof body);
  block.order = in_order(threads, settings().threads == Order::down ? Order::down : Order::up);
  block.stopped.resize(threads);
  block.has_ended.resize(threads);
  places.threads = {threads, 1, 1};
  places.grid = {static_cast<unsigned>(blocks), 1, 1};
  for (const unsigned number : in_order(blocks, settings().blocks)) {
    places.block = {number, 0, 0};
    run_block();
  }
}

}  // namespace gv::host_cuda
