#include "gpu/layers/norm_kernels.h"

namespace gv::gpu {
namespace {

/// What is summed over a channel: (dy, dy x_hat).
struct Slopes {
  const float* x;
  const float* dy;
  Statistics s;
  __device__ SumPair operator()(std::size_t k, std::size_t set) const {
    const auto d = static_cast<double>(dy[k]);
    return {d, d * static_cast<double>((x[k] - s.mean[set]) * s.inverse[set])};
  }
};

__global__ void affine_gradient_kernel(const SumPair* partial,
                                       std::uint32_t channels,
                                       std::uint32_t slices,
                                       float* d_weight,
                                       float* d_bias) {
  const std::size_t channel = thread_index();
  if (channel >= channels) return;
  const SumPair total = channel_total(partial, static_cast<std::uint32_t>(channel), slices);
  d_bias[channel] = static_cast<float>(total.a);
  d_weight[channel] = static_cast<float>(total.b);
}

/// dx = w / sigma (dy - mean(dy) - x_hat mean(dy x_hat)), the means over the channel.
__global__ void batch_back_kernel(Back b, const float* d_weight, const float* d_bias) {
  const std::size_t k = thread_index();
  if (k >= b.layout.rows * b.layout.channels * b.layout.pixels) return;
  const auto c = static_cast<std::uint32_t>(k / b.layout.pixels % b.layout.channels);
  const float n = static_cast<float>(b.layout.rows * b.layout.pixels);
  const float inverse = b.s.inverse[c];
  const float hat = (b.x[k] - b.s.mean[c]) * inverse;
  b.put(k, b.weight[c] * inverse * (b.dy[k] - d_bias[c] / n - hat * (d_weight[c] / n)));
}

/// dx = 1 / sigma (w dy - mean(w dy) - x_hat mean(w dy x_hat)), the means over the group: a block.
__global__ void group_back_kernel(Back b) {
  const std::uint32_t width = b.layout.channels / b.layout.groups;
  const std::uint32_t length = width * b.layout.pixels;
  const float* weight = b.weight + blockIdx.x % b.layout.groups * width;
  const std::size_t begin = std::size_t{blockIdx.x} * length;
  const float mean = b.s.mean[blockIdx.x];
  const float inverse = b.s.inverse[blockIdx.x];
  SumPair sum;
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const double d = static_cast<double>(weight[i / b.layout.pixels] * b.dy[begin + i]);
    sum.a += d;
    sum.b += d * static_cast<double>((b.x[begin + i] - mean) * inverse);
  }
  const SumPair total = block_sum(sum);
  const auto mean_d = static_cast<float>(total.a / length);
  const auto mean_d_hat = static_cast<float>(total.b / length);
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const float hat = (b.x[begin + i] - mean) * inverse;
    const float d = weight[i / b.layout.pixels] * b.dy[begin + i];
    b.put(begin + i, inverse * (d - mean_d - hat * mean_d_hat));
  }
}

}  // namespace

void find_affine_gradient(
    const Back& back, SumPair* partial, float* d_weight, float* d_bias, cudaStream_t stream) {
  const std::uint32_t channels = back.layout.channels;
  launch_blocks(channel_slice_kernel<Slopes>,
                std::size_t{channels} * back.layout.slices,
                stream,
                Slopes{back.x, back.dy, back.s},
                back.layout,
                partial);
  launch(affine_gradient_kernel,
         channels,
         stream,
         partial,
         channels,
         back.layout.slices,
         d_weight,
         d_bias);
}

void go_back(const Back& back, const float* d_weight, const float* d_bias, cudaStream_t stream) {
  const Layout& layout = back.layout;
  if (layout.groups == 0)
    launch(batch_back_kernel,
           layout.rows * layout.channels * layout.pixels,
           stream,
           back,
           d_weight,
           d_bias);
  else
    launch_blocks(group_back_kernel, layout.rows * layout.groups, stream, back);
}

}  // namespace gv::gpu
