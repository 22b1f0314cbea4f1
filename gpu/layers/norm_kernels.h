#pragma once

#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"

// Batch norm (Ioffe & Szegedy 2015, arXiv:1502.03167, algorithm 1), group norm (Wu & He 2018,
// arXiv:1803.08494) and layer norm (Ba et al. 2016, arXiv:1607.06450) are one thing here: values
// [rows][channels][pixels], a mean and a deviation for each set of them, a weight and a bias for
// each channel. Sets: a channel over all rows (batch); adjacent channels of one row (group). Layer
// norm is a group norm with one group whose rows are the positions, of one pixel each.
// For .cu files only. What each call works on is the device's; it puts kernels into the stream and
// returns.

namespace gv::gpu {

/// Blocks that sum one channel's values, each a slice of them; then one adds the slices up. Fewer
/// where they would be empty: a layer norm has a channel's few values of each position.
constexpr std::uint32_t most_slices = 64;

struct Layout {
  std::size_t rows;  ///< of this pass
  std::uint32_t channels, pixels;
  std::uint32_t groups;  ///< 0: batch norm
  std::uint32_t slices;

  __device__ std::size_t set_of(std::size_t row, std::uint32_t channel) const {
    return groups == 0 ? channel : row * groups + channel / (channels / groups);
  }
};

struct Statistics {
  const float* mean;
  const float* inverse;  ///< 1 / sqrt(variance + epsilon)
};

/// partial[channel * slices + slice] <- the sums of `term` over a channel's slice: block (channel,
/// slice).
template <class Term>
__global__ void channel_slice_kernel(Term term, Layout layout, SumPair* partial) {
  const std::uint32_t channel = blockIdx.x / layout.slices;
  const std::uint32_t slice = blockIdx.x % layout.slices;
  const std::size_t count = layout.rows * layout.pixels;
  SumPair sum;
  for (std::size_t i = std::size_t{slice} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{layout.slices} * blockDim.x) {
    const std::size_t row = i / layout.pixels;
    const std::size_t pixel = i % layout.pixels;
    const SumPair t = term((row * layout.channels + channel) * layout.pixels + pixel,
                           layout.set_of(row, channel));
    sum.a += t.a;
    sum.b += t.b;
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

__device__ inline SumPair channel_total(const SumPair* partial,
                                        std::uint32_t channel,
                                        std::uint32_t slices) {
  SumPair total;
  for (std::uint32_t s = 0; s < slices; ++s) {
    total.a += partial[channel * slices + s].a;
    total.b += partial[channel * slices + s].b;
  }
  return total;
}

/// What a way back from dy to dx needs.
struct Back {
  const float* x;
  const float* dy;
  float* dx;
  Layout layout;
  Statistics s;
  const float* weight;
  bool add;  ///< another consumer's share is in dx

  __device__ void put(std::size_t k, float share) const { dx[k] = add ? dx[k] + share : share; }
};

/// Of batch norm: as pass.moments says, of these values, or of the batches in `memory`: of the
/// means and the mean squares of the batches that are remembered, their sums.
void find_batch_statistics(const Pass& pass,
                           const Layout& layout,
                           float epsilon,
                           float* mean,
                           float* inverse,
                           SumPair* partial,
                           SumPair* memory);
/// Of group norm.
void find_group_statistics(
    const Pass& pass, const Layout& layout, float epsilon, float* mean, float* inverse);

/// d bias = sum dy, d weight = sum dy x_hat.
void find_affine_gradient(
    const Back& back, SumPair* partial, float* d_weight, float* d_bias, cudaStream_t stream);
/// dx; of batch norm from the gradients of its weights and biases.
void go_back(const Back& back, const float* d_weight, const float* d_bias, cudaStream_t stream);

}  // namespace gv::gpu
