#pragma once

#include <cstddef>

#include "gpu/device/check.h"
#ifdef GV_HOST_CUDA
#include <host_cuda.h>
#endif

// For .cu files only: the usual launch, one thread to an element or one block to a segment.

namespace gv::gpu {

constexpr unsigned block_threads = 256;

inline unsigned blocks_for(std::size_t items) {
  return static_cast<unsigned>((items + block_threads - 1) / block_threads);
}

__device__ inline std::size_t thread_index() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Begins `blocks` blocks of block_threads threads.
template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...),
           unsigned blocks,
           cudaStream_t stream,
           Arguments... arguments) {
#ifdef GV_HOST_CUDA
  host_cuda::launch(kernel, blocks, block_threads, stream, arguments...);
#else
  kernel<<<blocks, block_threads, 0, stream>>>(arguments...);
#endif
  GV_CUDA_LAUNCHED();
}

/// At least `items` threads; the kernel leaves those beyond alone.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...),
            std::size_t items,
            cudaStream_t stream,
            Arguments... arguments) {
  if (items == 0) return;
  start(kernel, blocks_for(items), stream, arguments...);
}

/// `blocks` blocks of block_threads threads.
template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...),
                   std::size_t blocks,
                   cudaStream_t stream,
                   Arguments... arguments) {
  if (blocks == 0) return;
  start(kernel, static_cast<unsigned>(blocks), stream, arguments...);
}

/// Two sums that a block takes together, such as those of the values and of their squares.
struct SumPair {
  double a = 0, b = 0;
};

/// The sums over the block's threads, in an order that never changes; every thread gets them.
__device__ static inline SumPair block_sum(SumPair mine) {
  __shared__ double a[block_threads];
  __shared__ double b[block_threads];
  a[threadIdx.x] = mine.a;
  b[threadIdx.x] = mine.b;
  __syncthreads();
  for (unsigned half = block_threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      a[threadIdx.x] += a[threadIdx.x + half];
      b[threadIdx.x] += b[threadIdx.x + half];
    }
    __syncthreads();
  }
  const SumPair total{a[0], b[0]};
  __syncthreads();  // the memory is free for the next sum
  return total;
}

}  // namespace gv::gpu
