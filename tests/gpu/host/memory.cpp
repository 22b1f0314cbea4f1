// The device's memory, pinned memory, and copies between them.
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <sys/mman.h>

#include "tests/gpu/host/page_locks.h"
#include "tests/gpu/host/streams.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace gv::host_cuda {
namespace {

// Two arenas, for the device's memory and for pinned memory. No address is used twice, and each
// allocation has a gap after it, so that reads beyond it, or after it was freed, hit no other one.
constexpr std::size_t page = 4096;

using Pieces = std::map<char*, std::size_t>;  ///< sizes in bytes, by beginning
struct Arena {
  char* begin = nullptr;
  std::size_t used = page;
  Pieces pieces;

  bool holds(const void* p) const {
    return begin != nullptr && p >= begin && p < begin + arena_bytes;
  }
  std::size_t room_at(const void* p) const;
  char* take(std::size_t bytes);
  void give_back(Pieces::iterator piece);
};
struct Memory {
  Arena device, pinned;
  std::vector<char*> ends;  ///< ends of the device's pieces, by page
  bool open = true;
  long fails_in = -1;
};
Memory& memory() {
  static Memory& all = *new Memory;  // destructors at the end of a program may need it
  return all;
}

std::size_t with_gap(std::size_t bytes) {
  return (bytes + page + page - 1) / page * page;
}

bool on_device(const void* p) {
  return memory().device.holds(p);
}

/// Returns the bytes from p to the end of the piece that holds it; 0 if there is no such piece.
std::size_t Arena::room_at(const void* p) const {
  auto* at = const_cast<char*>(static_cast<const char*>(p));
  auto piece = pieces.upper_bound(at);
  if (piece == pieces.begin()) return 0;
  --piece;
  char* const end = piece->first + piece->second;
  return at < end ? static_cast<std::size_t>(end - at) : 0;
}

void* map(void* at, std::size_t bytes, int access) {
  const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at == nullptr ? 0 : MAP_FIXED);
  void* const there = ::mmap(at, bytes, access, how, -1, 0);
  if (there == MAP_FAILED) problem("there is no room for the device's memory");
  return there;
}

/// Returns null if there is no room.
char* Arena::take(std::size_t bytes) {
  if (begin == nullptr)
    begin = static_cast<char*>(map(nullptr, arena_bytes, PROT_READ | PROT_WRITE));
  const std::size_t room = with_gap(bytes);
  if (used + room > arena_bytes) return nullptr;
  char* const at = begin + used;
  used += room;
  pieces[at] = bytes;
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(at, room);
  ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
  return at;
}

/// Makes every later access an error.
void Arena::give_back(Pieces::iterator piece) {
  const std::size_t room = with_gap(piece->second);
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(piece->first, room);
#endif
  map(piece->first, room, PROT_NONE);
  forget(piece->first, room);
  pieces.erase(piece);
}

/// Notes the end of the pages' piece; null if they have none.
void note_end(const char* at, std::size_t bytes, char* end) {
  std::vector<char*>& ends = memory().ends;
  const std::size_t first = static_cast<std::size_t>(at - memory().device.begin) / page;
  const std::size_t pages = with_gap(bytes) / page;
  if (ends.size() < first + pages) ends.resize(first + pages);
  std::fill_n(ends.begin() + static_cast<std::ptrdiff_t>(first), pages, end);
}

/// Checks an operation when it is issued, and again when it is done: memory may have been freed.
void must_hold(const void* p, std::size_t bytes, const char* call) {
  if (bytes > 0 && memory().device.room_at(p) < bytes)
    problem(std::string(call) +
            " goes beyond an allocation on the device, or to one that was freed");
}

/// Returns whether an allocation is to fail.
bool fails() {
  return memory().fails_in >= 0 && memory().fails_in-- == 0;
}

/// Only the beginning of cleared memory is watched: most such memory is workspaces, never read.
constexpr std::size_t most_noted = std::size_t{1} << 20;

/// Makes unwritten memory read as NaN.
void scribble(char* at, std::size_t bytes) {
  std::memset(at, 0xFF, bytes);
}

}  // namespace

/// Larger pieces are workspaces, and pictures by the hundred: opening and closing them at each call
/// takes longer than their use.
constexpr std::size_t most_guarded = std::size_t{1} << 20;

void open_memory(bool open) {
  Memory& all = memory();
  if (!settings().guard || open == all.open) return;
  all.open = open;
  const int access = open ? PROT_READ | PROT_WRITE : PROT_NONE;
  char* from = nullptr;
  char* to = nullptr;  // end of adjacent pieces, opened together
  for (const auto& [begin, bytes] : all.device.pieces) {
    if (bytes > most_guarded) continue;
    if (begin != to) {
      if (to != from) ::mprotect(from, static_cast<std::size_t>(to - from), access);
      from = begin;
    }
    to = begin + with_gap(bytes);
  }
  if (to != from) ::mprotect(from, static_cast<std::size_t>(to - from), access);
}

bool is_allocation(const void* p) {
  return on_device(p) || memory().pinned.holds(p);
}

bool in_arena(const void* p, std::size_t& offset) {
  if (!on_device(p)) return false;
  offset = static_cast<std::size_t>(static_cast<const char*>(p) - memory().device.begin);
  return true;
}

std::size_t room_on_device(const void* p) {
  const auto* at = static_cast<const char*>(p);
  const std::size_t number = static_cast<std::size_t>(at - memory().device.begin) / page;
  const char* const end = number < memory().ends.size() ? memory().ends[number] : nullptr;
  return at < end ? static_cast<std::size_t>(end - at) : 0;
}

void must_be_on_device(const void* p) {
  if (p != nullptr && !on_device(p)) problem("a kernel is given a pointer to the host's memory");
}

void fail_allocation(long after) {
  memory().fails_in = after;
}
std::size_t live_device_bytes() {
  std::size_t bytes = 0;
  for (const auto& [begin, size] : memory().device.pieces) bytes += size;
  return bytes;
}
std::size_t live_allocations() {
  return memory().device.pieces.size() + memory().pinned.pieces.size();
}

}  // namespace gv::host_cuda

using namespace gv::host_cuda;

cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  const Call call(calls());
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  char* const at = fails() ? nullptr : memory().device.take(bytes);
  if (at == nullptr) return failed(cudaErrorMemoryAllocation);
  note_end(at, bytes, at + bytes);
  scribble(at, bytes);
  *p = at;
  return cudaSuccess;
}

/// CUDA may wait for the device here, but need not: work under way must not use the memory.
cudaError_t cudaFree(void* p) {
  const Call call(calls());
  if (p == nullptr) return cudaSuccess;
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  const auto piece = memory().device.pieces.find(static_cast<char*>(p));
  if (piece == memory().device.pieces.end()) problem("cudaFree of what is no allocation");
  note_end(piece->first, piece->second, nullptr);
  memory().device.give_back(piece);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  const Call call(calls());
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  char* const at = fails() ? nullptr : memory().pinned.take(bytes);
  if (at == nullptr) return failed(cudaErrorMemoryAllocation);
  scribble(at, bytes);
  *p = at;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* p) {
  const Call call(calls());
  if (p == nullptr) return cudaSuccess;
  const auto piece = memory().pinned.pieces.find(static_cast<char*>(p));
  if (piece == memory().pinned.pieces.end()) problem("cudaFreeHost of what is no allocation");
  memory().pinned.give_back(piece);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t stream) {
  const Call call(calls());
  must_hold(p, bytes, "cudaMemset");
  put(stream_of(stream), {.run = [p, value, bytes] {
        ++counts().sets;
        must_hold(p, bytes, "cudaMemset");
        note_write(p, std::min(bytes, most_noted));
        std::memset(p, value, bytes);
      }});
  return cudaSuccess;
}
cudaError_t cudaMemset(void* p, int value, std::size_t bytes) {
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  return cudaMemsetAsync(p, value, bytes, nullptr);
}

/// Memory of the host that is not page-locked is read before the call returns. A copy to the host
/// is complete after a wait, wherever the memory is: CUDA itself waits if the memory is not
/// page-locked, but programs should not rely on that.
cudaError_t cudaMemcpyAsync(
    void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const Call call(calls());
  const bool up = kind == cudaMemcpyHostToDevice, down = kind == cudaMemcpyDeviceToHost;
  const bool to_device = up || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = down || kind == cudaMemcpyDeviceToDevice;
  if (to_device != on_device(to) || from_device != on_device(from))
    return failed(cudaErrorInvalidMemcpyDirection);
  if (to_device) must_hold(to, bytes, "cudaMemcpy to the device");
  if (from_device) must_hold(from, bytes, "cudaMemcpy from the device");
  std::shared_ptr<std::vector<char>> staged;
  const void* const host = up ? from : to;
  const std::size_t registered = up || down ? room_in_page_locked(host) : 0;
  const std::size_t pinned = up || down ? memory().pinned.room_at(host) : 0;
  const std::size_t locked = std::max(pinned, registered);
  // CUDA rejects a range that begins in page-locked memory and ends outside it.
  if ((locked > 0 && locked < bytes) || (down && locked_to_be_read(host)))
    return failed(cudaErrorInvalidValue);
  if ((up || down) && locked == 0) counts().pageable_bytes += bytes;
  if (down && registered > 0) counts().to_registered += bytes;
  if (up && locked_to_be_read(host)) counts().from_registered += bytes;
  if (up && locked == 0) {
    const char* const bytes_of = static_cast<const char*>(from);
    staged = std::make_shared<std::vector<char>>(bytes_of, bytes_of + bytes);
  }
  auto* const source = const_cast<char*>(static_cast<const char*>(from));
  put(stream_of(stream), {.run =
                              [to, from, bytes, staged, to_device, from_device] {
                                ++counts().copies;
                                if (to_device) must_hold(to, bytes, "cudaMemcpy to the device");
                                if (from_device)
                                  must_hold(from, bytes, "cudaMemcpy from the device");
                                note_read(from, bytes);
                                note_write(to, bytes);
                                if (bytes > 0)
                                  std::memcpy(to, staged ? staged->data() : from, bytes);
                              },
                          .reads = up && locked > 0 ? Range{source, bytes} : Range{},
                          .writes = down ? Range{static_cast<char*>(to), bytes} : Range{},
                          .over_bus = up || down ? bytes : 0});
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Call call(calls());
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  if (error == cudaSuccess && kind != cudaMemcpyDeviceToDevice) wait_for(stream_of(nullptr));
  return error;
}
