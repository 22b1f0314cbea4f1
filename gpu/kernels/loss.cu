#include "gpu/device/arithmetic.h"
#include "gpu/device/launch.h"
#include "gpu/kernels/sample_kernels.h"

namespace gv::gpu {
namespace {

/// In the last block to arrive, returns true, and all <- the sums of all blocks. partial: [block].
__device__ bool sum_of_blocks(SumPair mine, SumPair* partial, std::uint32_t* came, SumPair& all) {
  const SumPair own = block_sum(mine);
  if (threadIdx.x == 0) partial[blockIdx.x] = own;
  if (!last_to_come(came, gridDim.x)) return false;
  SumPair sum;
  for (std::uint32_t b = threadIdx.x; b < gridDim.x; b += block_threads) {
    sum.a += partial[b].a;
    sum.b += partial[b].b;
  }
  all = block_sum(sum);
  return true;
}

__global__ void cross_entropy_kernel(float* z,
                                     const std::uint8_t* labels,
                                     std::uint32_t lines,
                                     std::uint32_t classes,
                                     float share,
                                     LossSums sums) {
  const std::size_t k = thread_index();
  SumPair mine;
  if (k < lines) mine.a = cross_entropy_row(z + k * classes, labels[k], classes, share);
  SumPair all;
  if (sum_of_blocks(mine, sums.partial, sums.came, all) && threadIdx.x == 0)
    sums.result[0] = all.a / lines;
}

__global__ void score_kernel(const float* z,
                             const std::uint8_t* labels,
                             std::uint32_t lines,
                             std::uint32_t classes,
                             LossSums sums) {
  const std::size_t k = thread_index();
  SumPair mine;
  if (k < lines) {
    bool correct = false;
    mine.a = score_row(z + k * classes, labels[k], classes, correct);
    mine.b = correct ? 1 : 0;
  }
  SumPair all;
  if (!sum_of_blocks(mine, sums.partial, sums.came, all) || threadIdx.x > 0) return;
  sums.result[0] = all.a;
  sums.result[1] = all.b;
}

}  // namespace

void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   const LossSums& sums,
                   cudaStream_t stream) {
  const float share = 1.0F / static_cast<float>(lines);
  launch(cross_entropy_kernel, lines, stream, z, labels, lines, classes, share, sums);
}

void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           const LossSums& sums,
           cudaStream_t stream) {
  launch(score_kernel, lines, stream, z, labels, lines, classes, sums);
}

}  // namespace gv::gpu
