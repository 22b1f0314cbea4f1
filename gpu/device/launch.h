#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

#include "gpu/device/cuda_check.h"
#include "gpu/device/sum_pair.h"
#ifdef GV_HOST_CUDA
#include <host_cuda.h>
#endif

// For .cu files only: the usual launches, one thread per element or one block per segment.

namespace gv::gpu {

constexpr unsigned block_threads = 256;
constexpr unsigned wide_threads = 1024;  ///< threads of a block that works alone
constexpr std::size_t most_blocks = 0x7fffffff;

/// Number of threads or blocks, and its place in the source, which a launch error names.
struct Wanted {
  Wanted(std::size_t count_, std::source_location where_ = std::source_location::current())
      : count(count_), where(where_) {}
  std::size_t count;
  std::source_location where;
};

inline std::size_t blocks_for(std::size_t items) {
  return (items + block_threads - 1) / block_threads;
}

__device__ inline std::size_t thread_index() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Returns k / d and k % d, by 32 bits if k fits: a device divides 64-bit numbers in software.
struct Divided {
  std::size_t by, rest;
};
__device__ inline Divided divide(std::size_t k, std::uint32_t d) {
  if (k > 0xffffffff) return {k / d, k % d};
  const auto small = static_cast<std::uint32_t>(k);
  return {small / d, small % d};
}

/// Launches the kernel with `blocks` blocks of `threads` threads.
template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...),
           Wanted blocks,
           unsigned threads,
           cudaStream_t stream,
           Arguments... arguments) {
  cudaGetLastError();  // clears an unread error of an earlier call
  // More blocks than a grid may have become 0, an error too; the low 32 bits might be valid.
  const auto grid = static_cast<unsigned>(blocks.count > most_blocks ? 0 : blocks.count);
#ifdef GV_HOST_CUDA
  host_cuda::launch(kernel, grid, threads, stream, arguments...);
#else
  kernel<<<grid, threads, 0, stream>>>(arguments...);
#endif
  // A wrong configuration is reported as an error of the launch.
  const auto line = static_cast<int>(blocks.where.line());
  check(cudaGetLastError(), "kernel launch", blocks.where.file_name(), line);
}

/// Launches at least `items` threads; the kernel must ignore indices beyond.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...),
            Wanted items,
            cudaStream_t stream,
            Arguments... arguments) {
  if (items.count == 0) return;
  start(kernel, {blocks_for(items.count), items.where}, block_threads, stream, arguments...);
}

/// Launches `blocks` blocks of block_threads threads.
template <class... Parameters, class... Arguments>
void launch_blocks(void (*kernel)(Parameters...),
                   Wanted blocks,
                   cudaStream_t stream,
                   Arguments... arguments) {
  if (blocks.count == 0) return;
  start(kernel, blocks, block_threads, stream, arguments...);
}

/// Launches `blocks` blocks of wide_threads threads.
template <class... Parameters, class... Arguments>
void launch_wide_blocks(void (*kernel)(Parameters...),
                        Wanted blocks,
                        cudaStream_t stream,
                        Arguments... arguments) {
  if (blocks.count == 0) return;
  start(kernel, blocks, wide_threads, stream, arguments...);
}

/// Returns to every thread the sums over the block's threads, in an order that never changes. a, b:
/// shared memory, one element per thread.
__device__ static inline SumPair block_sum(SumPair mine, double* a, double* b) {
  a[threadIdx.x] = mine.a;
  b[threadIdx.x] = mine.b;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
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

/// Returns the sum over a block of block_threads threads.
__device__ static inline SumPair block_sum(SumPair mine) {
  __shared__ double a[block_threads];
  __shared__ double b[block_threads];
  return block_sum(mine, a, b);
}

/// Returns the sum over a block of wide_threads threads.
__device__ static inline SumPair wide_block_sum(SumPair mine) {
  __shared__ double a[wide_threads];
  __shared__ double b[wide_threads];
  return block_sum(mine, a, b);
}

/// Returns whether this block is the last of `blocks` blocks to reach `counter`, which is 0 before
/// the first and after the last. The last one may read what the others wrote before.
__device__ static inline bool last_to_come(std::uint32_t* counter, std::uint32_t blocks) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(counter, 1U) == blocks - 1;
    __threadfence();
    if (last) *counter = 0;
  }
  __syncthreads();
  return last;
}

}  // namespace gv::gpu
