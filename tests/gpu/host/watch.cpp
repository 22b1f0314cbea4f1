#include "tests/gpu/host/watch.h"

#include <algorithm>
#include <bitset>
#include <cstdio>
#include <deque>
#include <map>
#include <string>

#include <dlfcn.h>
#include <sys/mman.h>

namespace gv::host_cuda {
namespace {

// Last access to four bytes in one word: operation (for shared memory: block, counted through all
// grids), block, interval and thread.
using Stamp = std::uint64_t;
constexpr unsigned interval_at = 10, block_at = 22, bytes_at = 32, flags_at = 36, operation_at = 39;
constexpr Stamp atomic = Stamp{1} << flags_at;
constexpr Stamp several_threads = Stamp{2} << flags_at;  ///< threads of the block, in this interval
constexpr Stamp several_blocks = Stamp{4} << flags_at;
constexpr Stamp of_thread = (Stamp{1} << interval_at) - 1;
constexpr Stamp of_interval = (Stamp{1} << block_at) - 1 - of_thread;
constexpr Stamp of_block = (Stamp{1} << bytes_at) - (Stamp{1} << block_at);
constexpr Stamp of_bytes = Stamp{15} << bytes_at;
constexpr std::size_t cell_bytes = 4;

struct Cell {
  Stamp writer = 0, reader = 0;
};

struct Region {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool holds(const void* p) const { return p >= begin && p < end; }
};
Region region(const void* p, std::size_t bytes) {
  const auto* begin = static_cast<const char*>(p);
  return {begin, begin + bytes};
}

using Blocks = std::bitset<std::size_t{1} << (bytes_at - block_at)>;

struct Watch {
  Cell* cells = nullptr;      ///< one cell per four bytes of the arena
  std::deque<Region> shared;  ///< shared memory of every module
  std::deque<std::vector<Cell>> shared_cells;
  std::vector<Place> done{Place{}};  ///< by operation number; without the clock
  Place now;
  Stamp operation = 0, block = 0, interval = 0;
  Stamp blocks_so_far = 0;
  Region body, arguments;  ///< body and arguments of the kernel
  /// Blocks of the running kernel that reached a counter after a fence: its later blocks know their
  /// writes.
  std::map<const void*, Blocks> came;
  Blocks known;
  bool fenced = false;  ///< whether nothing was written since the fence
};
Watch watch;
/// Stack of the running thread of a block, or empty. Read at each access.
__attribute__((tls_model("initial-exec"))) thread_local Region stack;

Stamp numbered(Stamp operation) {
  return operation << operation_at;
}

std::string place_of(const void* code) {
  Dl_info info{};
  if (code == nullptr || ::dladdr(code, &info) == 0) return "";
  const auto offset = static_cast<const char*>(code) - static_cast<const char*>(info.dli_fbase);
  char text[32];
  std::snprintf(text, sizeof text, "+0x%zx", static_cast<std::size_t>(offset));
  return std::string(", at ") + info.dli_fname + text;
}

/// Returns whether the running operation begins after that one's end.
bool ordered(Stamp other) {
  const Place& before = watch.done[other >> operation_at];
  if (before.stream == watch.now.stream) return true;
  const Clock& clock = *watch.now.after;
  return before.stream < clock.size() && clock[before.stream] >= before.step;
}

/// Returns the conflict of two accesses to the same bytes, one of which writes.
const char* conflict(Stamp before, Stamp mine, bool shared) {
  if (before == 0 || (before & mine & of_bytes) == 0 || (before & mine & atomic) != 0)
    return nullptr;
  if (before >> operation_at != mine >> operation_at) {
    if (shared || ordered(before)) return nullptr;
    return "two operations of different streams, and neither an event nor the host between them";
  }
  const bool told = (before & several_blocks) == 0 && watch.known[(before & of_block) >> block_at];
  if (told && ((before ^ mine) & of_block) != 0) return nullptr;
  if ((before & several_blocks) != 0 || ((before ^ mine) & of_block) != 0)
    return "two blocks of a kernel";
  if (((before ^ mine) & of_interval) != 0) return nullptr;
  const bool apart = (before & several_threads) != 0 || ((before ^ mine) & of_thread) != 0;
  return apart ? "two threads of a block, and no barrier between them" : nullptr;
}

[[noreturn]] void race(const char* who, const char* what, bool shared, const void* code) {
  problem(std::string("a race for ") + (shared ? "shared" : "the device's") + " memory: " + what +
          ", by " + who + place_of(code));
}

/// Adds a read to the known reads.
Stamp with_reader(Stamp before, Stamp mine) {
  if (before >> operation_at != mine >> operation_at) return mine;
  const Stamp bytes = (before | mine) & of_bytes;
  if (((before ^ mine) & of_block) != 0) return before | several_blocks | bytes;
  if (((before ^ mine) & of_interval) != 0) return mine | (before & several_blocks);
  if (((before ^ mine) & of_thread) != 0) return before | several_threads | bytes;
  return before | bytes;
}

void access(Cell& cell, Stamp mine, bool writes, bool shared, const void* code) {
  if (const char* who = conflict(cell.writer, mine, shared))
    race(who, writes ? "two writes" : "a write and a read", shared, code);
  if (!writes) {
    cell.reader = with_reader(cell.reader, mine);
    return;
  }
  if (const char* who = conflict(cell.reader, mine, shared))
    race(who, "a read and a write", shared, code);
  const bool own = ((cell.writer ^ mine) & ~of_bytes) == 0;
  cell.writer = own ? cell.writer | mine : mine;
}

void access(Cell* cells,
            std::size_t offset,
            std::size_t bytes,
            Stamp mine,
            bool writes,
            bool shared,
            const void* code) {
  const std::size_t end = offset + bytes;
  for (std::size_t at = offset; at < end;) {
    const std::size_t first = at % cell_bytes;
    const std::size_t count = std::min(end - at, cell_bytes - first);
    const Stamp mask = ((Stamp{1} << count) - 1) << first << bytes_at;
    access(cells[at / cell_bytes], mine | mask, writes, shared, code);
    at += count;
  }
}

Cell* arena_cells() {
  if (watch.cells != nullptr) return watch.cells;
  void* at = ::mmap(nullptr, arena_bytes / cell_bytes * sizeof(Cell), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) problem("there is no room to watch the device's memory");
  return watch.cells = static_cast<Cell*>(at);
}

Stamp of_this_thread() {
  return thread_in_block() | watch.interval << interval_at;
}

void in_kernel(const void* p, std::size_t bytes, bool writes, Stamp flags, const void* code) {
  std::size_t offset = 0;
  if (in_arena(p, offset)) {
    if (writes && (flags & atomic) == 0) watch.fenced = false;
    if (room_on_device(p) < bytes)
      problem(std::string("a kernel ") + (writes ? "writes" : "reads") +
              " beyond an allocation on the device" + place_of(code));
    const Stamp mine = of_this_thread() | (watch.block << block_at & of_block);
    access(arena_cells(), offset, bytes, mine | flags | numbered(watch.operation), writes, false,
           code);
    return;
  }
  for (std::size_t k = 0; k < watch.shared.size(); ++k) {
    if (!watch.shared[k].holds(p)) continue;
    offset = static_cast<std::size_t>(static_cast<const char*>(p) - watch.shared[k].begin);
    access(watch.shared_cells[k].data(), offset, bytes,
           of_this_thread() | flags | numbered(watch.blocks_so_far), writes, true, code);
    return;
  }
  if (!writes && (watch.body.holds(p) || watch.arguments.holds(p) || is_place(p))) return;
  problem("a kernel touches the host's memory" + place_of(code));
}

/// A block adds to a counter: blocks that arrive later know its writes before the fence.
void come(const void* counter) {
  Blocks& came = watch.came[counter];
  watch.known |= came;
  if (watch.fenced) came[watch.block % came.size()] = true;
}

void touch(const void* p, std::size_t bytes, bool writes, Stamp flags, const void* code) {
  if (stack.begin != nullptr && !stack.holds(p)) in_kernel(p, bytes, writes, flags, code);
}

void note(const void* p, std::size_t bytes, bool writes) {
  std::size_t offset = 0;
  if (bytes == 0 || !settings().watches) return;
  if (!in_arena(p, offset)) return;  // the host's memory is not watched
  if (room_on_device(p) < bytes) problem("a library or a copy goes beyond an allocation");
  access(arena_cells(), offset, bytes, numbered(watch.operation), writes, false, nullptr);
}

}  // namespace

void begin_operation(const Place& place) {
  watch.now = place;
  watch.operation = watch.done.size();
  if (watch.operation >> (64 - operation_at) != 0) problem("too many operations to watch");
  watch.done.push_back({place.stream, place.step, nullptr});
  watch.came.clear();
}

void begin_block(std::size_t number) {
  watch.block = number;
  watch.interval = 0;
  watch.known.reset();
  watch.fenced = false;
  ++watch.blocks_so_far;
}

void fence() {
  watch.fenced = true;
}

void begin_interval() {
  constexpr Stamp most = of_interval >> interval_at;
  if (++watch.interval > most) problem("too many barriers in a block to watch");
}

void begin_thread(const void* of, std::size_t bytes) {
  if (settings().watches) stack = region(of, bytes);
}

void know_body(const void* p, std::size_t bytes) {
  watch.body = region(p, bytes);
}
void know_arguments(const void* p, std::size_t bytes) {
  watch.arguments = region(p, bytes);
}

void forget(const void* p, std::size_t bytes) {
  std::size_t offset = 0;
  if (watch.cells == nullptr || !in_arena(p, offset)) return;
  ::madvise(watch.cells + offset / cell_bytes, bytes / cell_bytes * sizeof(Cell), MADV_DONTNEED);
}

void note_read(const void* p, std::size_t bytes) {
  note(p, bytes, false);
}
void note_write(void* p, std::size_t bytes) {
  note(p, bytes, true);
}

void watch_shared(char* begin, char* end) {
  watch.shared.push_back({begin, end});
  watch.shared_cells.emplace_back(static_cast<std::size_t>(end - begin) / cell_bytes + 1);
}

}  // namespace gv::host_cuda

// Functions that the compiler calls at each access.
using gv::host_cuda::touch;
#define GV_ACCESS(bytes)                                    \
  extern "C" void __tsan_read##bytes(void* p) {             \
    touch(p, bytes, false, 0, __builtin_return_address(0)); \
  }                                                         \
  extern "C" void __tsan_write##bytes(void* p) {            \
    touch(p, bytes, true, 0, __builtin_return_address(0));  \
  }                                                         \
  extern "C" void __tsan_unaligned_read##bytes(void* p) {   \
    touch(p, bytes, false, 0, __builtin_return_address(0)); \
  }                                                         \
  extern "C" void __tsan_unaligned_write##bytes(void* p) {  \
    touch(p, bytes, true, 0, __builtin_return_address(0));  \
  }
GV_ACCESS(1)
GV_ACCESS(2)
GV_ACCESS(4)
GV_ACCESS(8)
GV_ACCESS(16)
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* p, unsigned long bytes) {
  touch(p, bytes, false, 0, __builtin_return_address(0));
}
void __tsan_write_range(void* p, unsigned long bytes) {
  touch(p, bytes, true, 0, __builtin_return_address(0));
}
std::uint32_t __tsan_atomic32_fetch_add(std::uint32_t* p, std::uint32_t value, int) {
  gv::host_cuda::come(p);
  touch(p, 4, true, gv::host_cuda::atomic, __builtin_return_address(0));
  return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
}
std::uint32_t __tsan_atomic32_fetch_or(std::uint32_t* p, std::uint32_t value, int) {
  touch(p, 4, true, gv::host_cuda::atomic, __builtin_return_address(0));
  return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);
}
// For the host's own code in these sources: the guards of static objects.
std::uint8_t __tsan_atomic8_load(const std::uint8_t* p, int) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
}
