#include "gpu/layers/norm_kernels.h"

namespace gv::gpu {
namespace {

/// The pair that is summed over a channel: (dy, dy x_hat).
struct Slopes {
  Back b;
  __device__ SumPair operator()(std::size_t k, std::size_t set) const {
    const auto d = static_cast<double>(b.slope(k));
    return {d, d * static_cast<double>((b.x[k] - b.s.mean[set]) * b.s.inverse[set])};
  }
};

struct AffineGradient {
  float* d_weight;
  float* d_bias;
  __device__ void operator()(std::size_t channel, SumPair total) const {
    d_bias[channel] = static_cast<float>(total.a);
    d_weight[channel] = static_cast<float>(total.b);
  }
};

/// dx = w / sigma (dy - mean(dy) - x_hat mean(dy x_hat)), with means over the channel's n values.
__device__ void go_back_in_batch(
    const Back& b, std::size_t k, std::size_t c, float n, float d_weight, float d_bias) {
  const float inverse = b.s.inverse[c];
  const float hat = (b.x[k] - b.s.mean[c]) * inverse;
  const float slope = b.slope(k);
  b.put(k, slope, b.weight[c] * inverse * (slope - d_bias / n - hat * (d_weight / n)));
}

__global__ void batch_back_kernel(Back b, AffineGradient of, std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const std::size_t c = divide(divide(k, b.layout.pixels).by, b.layout.channels).rest;
  const float n = static_cast<float>(b.layout.rows * b.layout.pixels);
  go_back_in_batch(b, k, c, n, of.d_weight[c], of.d_bias[c]);
}

/// One block per channel of a batch norm, from the sums to dx.
__global__ void __launch_bounds__(wide_threads) batch_back_alone_kernel(Back b, AffineGradient to) {
  const std::uint32_t channel = blockIdx.x;
  const std::size_t count = b.layout.rows * b.layout.pixels;
  const SumPair total = sum_of_channel(b.layout, channel, Slopes{b});
  if (threadIdx.x == 0) to(channel, total);
  const float n = static_cast<float>(count);
  for (std::size_t i = threadIdx.x; i < count; i += wide_threads)
    go_back_in_batch(b, b.layout.of_channel(channel, i), channel, n, static_cast<float>(total.b),
                     static_cast<float>(total.a));
}

/// dx = 1 / sigma (w dy - mean(w dy) - x_hat mean(w dy x_hat)), means over the group: one block.
__global__ void group_back_kernel(Back b) {
  const std::uint32_t width = b.layout.channels / b.layout.groups;
  const std::uint32_t length = width * b.layout.pixels;
  const float* weight = b.weight + blockIdx.x % b.layout.groups * width;
  const std::size_t begin = std::size_t{blockIdx.x} * length;
  const float mean = b.s.mean[blockIdx.x];
  const float inverse = b.s.inverse[blockIdx.x];
  SumPair sum;
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const double d = static_cast<double>(weight[i / b.layout.pixels] * b.slope(begin + i));
    sum.a += d;
    sum.b += d * static_cast<double>((b.x[begin + i] - mean) * inverse);
  }
  const SumPair total = block_sum(sum);
  const auto mean_d = static_cast<float>(total.a / length);
  const auto mean_d_hat = static_cast<float>(total.b / length);
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const float hat = (b.x[begin + i] - mean) * inverse;
    const float slope = b.slope(begin + i);
    const float d = weight[i / b.layout.pixels] * slope;
    b.put(begin + i, slope, inverse * (d - mean_d - hat * mean_d_hat));
  }
}

}  // namespace

void go_back(
    const Back& back, const Slices& slices, float* d_weight, float* d_bias, cudaStream_t stream) {
  const Layout& layout = back.layout;
  const AffineGradient affine{d_weight, d_bias};
  if (back.dx != nullptr && layout.alone())
    return launch_wide_blocks(batch_back_alone_kernel, layout.channels, stream, back, affine);
  launch_blocks(channel_slice_kernel<Slopes, AffineGradient>,
                std::size_t{layout.channels} * layout.slices, stream, Slopes{back}, affine, layout,
                slices);
  if (back.dx == nullptr) return;
  if (layout.groups == 0)
    launch(batch_back_kernel, layout.count(), stream, back, affine, layout.count());
  else
    launch_blocks(group_back_kernel, layout.rows * layout.groups, stream, back);
}

}  // namespace gv::gpu
