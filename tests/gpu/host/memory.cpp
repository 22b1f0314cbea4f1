// The device's memory, pinned memory, and what is copied between them.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <sys/mman.h>

#include "tests/gpu/host/streams.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace gv::host_cuda {
namespace {

// An arena whose places are never used twice, with a gap behind each: what is read beyond an
// allocation, or after it was freed, is nobody's.
constexpr std::size_t arena_bytes = std::size_t{256} << 30;
constexpr std::size_t page = 4096;

using Pieces = std::map<char*, std::size_t>;  ///< where each begins, and its bytes
struct Memory {
  char* arena = nullptr;
  std::size_t used = page;
  Pieces device, pinned;
  bool open = true;
  long fails_in = -1;
};
Memory& memory() {
  static Memory all;
  return all;
}

char* arena() {
  if (memory().arena != nullptr) return memory().arena;
  void* at = ::mmap(nullptr,
                    arena_bytes,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1,
                    0);
  if (at == MAP_FAILED) problem("there is no room for the device's memory");
  return memory().arena = static_cast<char*>(at);
}

bool on_device(const void* p) {
  const char* const begin = memory().arena;
  return begin != nullptr && p >= begin && p < begin + arena_bytes;
}

/// The bytes from p to the end of the piece that holds it; 0: none does.
std::size_t room_at(const Pieces& pieces, const void* p) {
  auto* at = const_cast<char*>(static_cast<const char*>(p));
  auto piece = pieces.upper_bound(at);
  if (piece == pieces.begin()) return 0;
  --piece;
  char* const end = piece->first + piece->second;
  return at < end ? static_cast<std::size_t>(end - at) : 0;
}

void must_hold(const void* p, std::size_t bytes, const char* call) {
  if (bytes > 0 && room_at(memory().device, p) < bytes)
    problem(std::string(call) + " goes beyond an allocation on the device");
}

/// Whether an allocation is to fail.
bool fails() {
  return memory().fails_in >= 0 && memory().fails_in-- == 0;
}

std::size_t with_gap(std::size_t bytes) {
  return (bytes + page + page - 1) / page * page;
}

/// What was never written reads as NaN.
void scribble(char* at, std::size_t bytes) {
  std::memset(at, 0xFF, bytes);
}

}  // namespace

void open_memory(bool open) {
  Memory& all = memory();
  if (!settings().guard || open == all.open || all.device.empty()) return;
  all.open = open;
  char* const begin = all.arena + page;
  ::mprotect(begin, all.used - page, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void fail_allocation(long after) {
  memory().fails_in = after;
}
std::size_t live_allocations() {
  return memory().device.size() + memory().pinned.size();
}

}  // namespace gv::host_cuda

using namespace gv::host_cuda;

cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  const Call call(calls());
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  Memory& all = memory();
  const std::size_t room = with_gap(bytes);
  if (fails() || all.used + room > arena_bytes) return failed(cudaErrorMemoryAllocation);
  char* const at = arena() + all.used;
  open_memory(true);
  all.used += room;
  all.device[at] = bytes;
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(at, room);
  ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
  scribble(at, bytes);
  open_memory(false);
  *p = at;
  return cudaSuccess;
}

cudaError_t cudaFree(void* p) {
  const Call call(calls());
  if (p == nullptr) return cudaSuccess;
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  drain_all();
  const auto piece = memory().device.find(static_cast<char*>(p));
  if (piece == memory().device.end()) problem("cudaFree of what is no allocation");
#ifdef __SANITIZE_ADDRESS__
  ASAN_POISON_MEMORY_REGION(p, with_gap(piece->second));
#endif
  ::mmap(p,
         with_gap(piece->second),
         PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1,
         0);
  memory().device.erase(piece);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  const Call call(calls());
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  if (fails() || ::posix_memalign(p, 64, std::max<std::size_t>(bytes, 1)) != 0)
    return failed(cudaErrorMemoryAllocation);
  scribble(static_cast<char*>(*p), bytes);
  memory().pinned[static_cast<char*>(*p)] = bytes;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* p) {
  const Call call(calls());
  if (p == nullptr) return cudaSuccess;
  drain_all();
  if (memory().pinned.erase(static_cast<char*>(p)) == 0)
    problem("cudaFreeHost of what is no allocation");
  std::free(p);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* p, int value, std::size_t bytes, cudaStream_t stream) {
  const Call call(calls());
  must_hold(p, bytes, "cudaMemset");
  put(stream_of(stream),
      {[p, value, bytes] {
         ++counts().sets;
         std::memset(p, value, bytes);
       },
       nullptr,
       nullptr});
  return cudaSuccess;
}
cudaError_t cudaMemset(void* p, int value, std::size_t bytes) {
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  return cudaMemsetAsync(p, value, bytes, nullptr);
}

/// Memory of the host that is not pinned is read before the call returns, and written before it
/// does.
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
  HostStream& in = stream_of(stream);
  std::shared_ptr<std::vector<char>> staged;
  if (up && room_at(memory().pinned, from) == 0) {
    const char* const bytes_of = static_cast<const char*>(from);
    staged = std::make_shared<std::vector<char>>(bytes_of, bytes_of + bytes);
  }
  put(in,
      {[to, from, bytes, staged] {
         ++counts().copies;
         if (bytes > 0) std::memcpy(to, staged ? staged->data() : from, bytes);
       },
       nullptr,
       nullptr});
  if (down && room_at(memory().pinned, to) == 0 && !records(in)) drain(in);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Call call(calls());
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  if (error == cudaSuccess && kind != cudaMemcpyDeviceToDevice) drain(stream_of(nullptr));
  return error;
}
