#include "gpu/device/arithmetic.h"
#include "gpu/device/launch.h"
#include "gpu/layers/loss.h"

namespace gv::gpu {
namespace {

__global__ void cross_entropy_kernel(float* z,
                                     const std::uint8_t* labels,
                                     std::uint32_t lines,
                                     std::uint32_t classes,
                                     float share,
                                     double* losses) {
  const std::size_t k = thread_index();
  if (k < lines) losses[k] = cross_entropy_row(z + k * classes, labels[k], classes, share);
}

__global__ void score_kernel(const float* z,
                             const std::uint8_t* labels,
                             std::uint32_t lines,
                             std::uint32_t classes,
                             double* losses) {
  const std::size_t k = thread_index();
  if (k >= lines) return;
  bool correct = false;
  losses[2 * k] = score_row(z + k * classes, labels[k], classes, correct);
  losses[2 * k + 1] = correct ? 1 : 0;
}

/// One block.
__global__ void mean_kernel(const double* losses, std::uint32_t lines, double* mean) {
  SumPair sum;
  for (std::uint32_t k = threadIdx.x; k < lines; k += blockDim.x) sum.a += losses[k];
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) *mean = total.a / lines;
}

/// One block.
__global__ void total_kernel(const double* losses, std::uint32_t lines, double* score) {
  SumPair sum;
  for (std::uint32_t k = threadIdx.x; k < lines; k += blockDim.x) {
    sum.a += losses[2 * k];
    sum.b += losses[2 * k + 1];
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) {
    score[0] = total.a;
    score[1] = total.b;
  }
}

}  // namespace

void cross_entropy(float* z,
                   const std::uint8_t* labels,
                   std::uint32_t lines,
                   std::uint32_t classes,
                   double* losses,
                   double* loss,
                   cudaStream_t stream) {
  const float share = 1.0F / static_cast<float>(lines);
  launch(cross_entropy_kernel, lines, stream, z, labels, lines, classes, share, losses);
  launch_blocks(mean_kernel, 1, stream, losses, lines, loss);
}

void score(const float* z,
           const std::uint8_t* labels,
           std::uint32_t lines,
           std::uint32_t classes,
           double* losses,
           double* score,
           cudaStream_t stream) {
  launch(score_kernel, lines, stream, z, labels, lines, classes, losses);
  launch_blocks(total_kernel, 1, stream, losses, lines, score);
}

}  // namespace gv::gpu
