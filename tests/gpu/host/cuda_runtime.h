// What a kernel uses, for a C++ compiler: the device's words, the places of blocks and threads,
// barriers, shuffles and atomic operations. Every source of kernels is compiled as if it included
// this first, as nvcc does with CUDA's own.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __host__
// Shared memory is static, since blocks run one after the other. Under the address sanitizer each
// array has a red zone; without it all lie in one section, which is filled with NaN before each
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

extern dim3 block_index, thread_index, block_size, grid_size;
/// Returns when every thread of the block has come to the barrier at `where`.
void barrier(const void* where);
/// Returns the value that the lane `from` of the warp has brought; `mask`: the lanes that take
/// part.
std::uint32_t shuffle(unsigned mask, std::uint32_t value, unsigned from);
/// This thread's place in its warp.
unsigned lane();
/// Not inlined, so that each call has a place of its own.
__attribute__((noinline)) inline void synchronize_threads() {
  barrier(__builtin_return_address(0));
}

}  // namespace gv::host_cuda

#define blockIdx ::gv::host_cuda::block_index
#define threadIdx ::gv::host_cuda::thread_index
#define blockDim ::gv::host_cuda::block_size
#define gridDim ::gv::host_cuda::grid_size
#define __syncthreads() ::gv::host_cuda::synchronize_threads()

inline float __shfl_xor_sync(unsigned mask, float value, unsigned with) {
  using namespace gv::host_cuda;
  return std::bit_cast<float>(shuffle(mask, std::bit_cast<std::uint32_t>(value), lane() ^ with));
}
// Relaxed, as CUDA's are.
inline std::uint32_t atomicAdd(std::uint32_t* at, std::uint32_t value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
inline std::uint32_t atomicOr(std::uint32_t* at, std::uint32_t value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
