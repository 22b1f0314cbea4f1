// CUDA for kernels in a C++ compiler: its keywords, indices of blocks and threads, barriers,
// shuffles and atomic operations. Every kernel source is compiled as if it included this first, as
// nvcc does with CUDA's own.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "cuda_runtime_api.h"

#define __global__
#define __launch_bounds__(threads)
#define __device__
#define __host__
// Shared memory is static, since blocks run one after the other; a template cannot have any,
// because the compiler puts its static memory elsewhere. Under the address sanitizer each array has
// a red zone; without it, all arrays are in one section, which is filled with NaN before each
// block.
#ifdef __SANITIZE_ADDRESS__
#define __shared__ static
#else
#define __shared__ static __attribute__((section("gv_shared")))
#endif

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}

namespace gv::host_cuda {

/// Indices of the running thread.
struct Places {
  dim3 block, thread, threads, grid;
};
extern Places places;
/// Announces the shared memory of a module's kernels; null if it has none.
void know_shared(char* begin, char* end);
/// Waits until every thread of the block has reached the barrier at `where`, a place in a source.
void barrier(const char* where);
/// Makes earlier writes of this thread visible to threads that see its later writes.
#ifdef GV_HOST_WATCH
void fence();
#else
inline void fence() {}
#endif
/// Returns the value of the lane `from` of the warp; `mask`: lanes that take part.
std::uint32_t shuffle(unsigned mask, std::uint32_t value, unsigned from);
/// Returns this thread's index in its warp.
unsigned lane();

}  // namespace gv::host_cuda

#ifndef __SANITIZE_ADDRESS__
extern "C" {
extern char __start_gv_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_gv_shared[] __attribute__((weak, visibility("hidden")));
}
namespace gv::host_cuda {
/// Each source announces its module's section before any kernel begins.
[[maybe_unused]] static const bool shared_is_known =
    (know_shared(__start_gv_shared, __stop_gv_shared), true);
}  // namespace gv::host_cuda
#endif

#define blockIdx ::gv::host_cuda::places.block
#define threadIdx ::gv::host_cuda::places.thread
#define blockDim ::gv::host_cuda::places.threads
#define gridDim ::gv::host_cuda::places.grid
// A barrier is identified by its line: the compiler may merge or duplicate calls.
#define GV_HOST_TEXT(x) #x
#define GV_HOST_LINE(x) GV_HOST_TEXT(x)
#define __syncthreads() ::gv::host_cuda::barrier(__FILE__ ":" GV_HOST_LINE(__LINE__))

inline float __shfl_xor_sync(unsigned mask, float value, unsigned with) {
  using namespace gv::host_cuda;
  return std::bit_cast<float>(shuffle(mask, std::bit_cast<std::uint32_t>(value), lane() ^ with));
}
inline void __threadfence() {
  gv::host_cuda::fence();
}
// Relaxed, as CUDA's are.
inline std::uint32_t atomicAdd(std::uint32_t* at, std::uint32_t value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
inline std::uint32_t atomicOr(std::uint32_t* at, std::uint32_t value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
