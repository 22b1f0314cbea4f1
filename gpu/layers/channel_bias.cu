#include "gpu/device/launch.h"
#include "gpu/layers/channel_bias.h"

namespace gv::gpu {
namespace {

__global__ void bias_kernel(float* y,
                            const float* bias,
                            std::size_t count,
                            std::uint32_t channels,
                            std::uint32_t pixels,
                            bool relu) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const float z = y[k] + bias[divide(divide(k, pixels).by, channels).rest];
  y[k] = relu && z < 0 ? 0.0F : z;
}

/// One block per channel.
__global__ void sum_kernel(const float* dy,
                           float* d_bias,
                           std::uint32_t rows,
                           std::uint32_t channels,
                           std::uint32_t pixels) {
  const std::size_t count = std::size_t{rows} * pixels;
  SumPair sum;
  for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) {
    const Divided at = divide(i, pixels);
    sum.a += static_cast<double>(dy[(at.by * channels + blockIdx.x) * pixels + at.rest]);
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) d_bias[blockIdx.x] = static_cast<float>(total.a);
}

}  // namespace

void add_channel_bias(float* y,
                      const float* bias,
                      std::uint32_t rows,
                      std::uint32_t channels,
                      std::uint32_t pixels,
                      bool relu,
                      cudaStream_t stream) {
  const std::size_t count = std::size_t{rows} * channels * pixels;
  launch(bias_kernel, count, stream, y, bias, count, channels, pixels, relu);
}

void sum_channels(const float* dy,
                  float* d_bias,
                  std::uint32_t rows,
                  std::uint32_t channels,
                  std::uint32_t pixels,
                  cudaStream_t stream) {
  launch_blocks(sum_kernel, channels, stream, dy, d_bias, rows, channels, pixels);
}

}  // namespace gv::gpu
