#pragma once

#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"

// Batch norm (Ioffe & Szegedy 2015, arXiv:1502.03167, algorithm 1), group norm (Wu & He 2018,
// arXiv:1803.08494) and layer norm (Ba et al. 2016, arXiv:1607.06450) share one form: values
// [rows][channels][pixels], a mean and a deviation for each set of values, a weight and a bias for
// each channel. A set is a channel over all rows (batch) or adjacent channels of one row (group).
// Layer norm is a group norm with one group whose rows are the positions, of one pixel each.
// For .cu files only. All arguments are in the device's memory; a call puts kernels into the stream
// and returns.

namespace gv::gpu {

/// Most blocks that sum one channel's values, each a slice; the last block adds the slices up. A
/// channel with few values, as in a layer norm, has fewer, so that none is empty.
constexpr std::uint32_t most_slices = 64;
/// Most values of a batch norm's channel that one block handles alone: it sums them and then uses
/// the sums, which saves a kernel each way. 32 values per thread.
constexpr std::size_t most_alone = 32 * wide_threads;

struct Layout {
  std::size_t rows;  ///< number of rows of this pass
  std::uint32_t channels, pixels;
  std::uint32_t groups;  ///< number of groups; 0 for batch norm
  std::uint32_t slices;

  __device__ std::size_t set_of(std::size_t row, std::uint32_t channel) const {
    return groups == 0 ? channel : row * groups + channel / (channels / groups);
  }
  /// Returns the index of value i of a channel.
  __device__ std::size_t of_channel(std::uint32_t channel, std::size_t i) const {
    const Divided at = divide(i, pixels);
    return (at.by * channels + channel) * pixels + at.rest;
  }
  std::size_t per_channel() const { return rows * pixels; }
  std::size_t count() const { return rows * pixels * channels; }
  bool alone() const { return groups == 0 && per_channel() <= most_alone; }
};

struct Statistics {
  const float* mean;
  const float* inverse;  ///< 1 / sqrt(variance + epsilon)
};

/// Memory in which the slices of a channel are summed.
struct Slices {
  SumPair* sums;        ///< [channel * slices + slice]
  std::uint32_t* came;  ///< [channel]: number of slices done; 0 between kernels
};

/// Calls finish(channel, sums of `term` over its values). Block (channel, slice).
template <class Term, class Finish>
__global__ void channel_slice_kernel(Term term, Finish finish, Layout layout, Slices slices) {
  const std::uint32_t channel = blockIdx.x / layout.slices;
  const std::uint32_t slice = blockIdx.x % layout.slices;
  const std::size_t count = layout.rows * layout.pixels;
  SumPair sum;
  for (std::size_t i = std::size_t{slice} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{layout.slices} * blockDim.x) {
    const Divided at = divide(i, layout.pixels);
    const SumPair t = term((at.by * layout.channels + channel) * layout.pixels + at.rest,
                           layout.set_of(at.by, channel));
    sum.a += t.a;
    sum.b += t.b;
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) slices.sums[blockIdx.x] = total;
  if (!last_to_come(slices.came + channel, layout.slices)) return;
  SumPair mine;
  if (threadIdx.x < layout.slices) mine = slices.sums[channel * layout.slices + threadIdx.x];
  const SumPair all = block_sum(mine);
  if (threadIdx.x == 0) finish(channel, all);
}

/// Returns to every thread the sums of `term` over a channel of a batch norm, by a block of
/// wide_threads threads.
template <class Term>
__device__ SumPair sum_of_channel(const Layout& layout, std::uint32_t channel, const Term& term) {
  const std::size_t count = layout.rows * layout.pixels;
  SumPair sum;
  for (std::size_t i = threadIdx.x; i < count; i += wide_threads) {
    const SumPair t = term(layout.of_channel(channel, i), channel);
    sum.a += t.a;
    sum.b += t.b;
  }
  return wide_block_sum(sum);
}

/// Work fused after a norm, for element k.
struct Behind {
  const float* residual;  ///< null if there is none
  bool relu;

  __device__ float operator()(float v, std::size_t k) const {
    if (residual != nullptr) v += residual[k];
    return relu && v < 0 ? 0.0F : v;
  }
};

/// Arguments of a forward pass.
struct Forth {
  const float* x;
  float* y;
  Layout layout;
  float* mean;
  float* inverse;
  float epsilon;
  const float* weight;
  const float* bias;
  Behind behind;

  __device__ void put(std::size_t k, float m, float i, std::size_t channel) const {
    y[k] = behind((x[k] - m) * i * weight[channel] + bias[channel], k);
  }
};

/// Arguments of a backward pass from dy to dx.
struct Back {
  const float* x;
  const float* dy;
  const float* y;  ///< output of the relu, which blocks dy unless positive; null if there is none
  float* dx;
  float* d_residual;  ///< may be dy itself; null if not needed
  Layout layout;
  Statistics s;
  const float* weight;
  bool add, add_residual;  ///< whether to add to another consumer's share

  __device__ float slope(std::size_t k) const { return y == nullptr || y[k] > 0 ? dy[k] : 0.0F; }
  /// slope: the value of slope(k).
  __device__ void put(std::size_t k, float slope, float share) const {
    dx[k] = add ? dx[k] + share : share;
    if (d_residual != nullptr) d_residual[k] = add_residual ? d_residual[k] + slope : slope;
  }
};

/// Computes batch norm, with the moments of this batch or with those in `memory`, which holds the
/// sums of the batches' means and mean squares.
void batch_norm(const Forth& forth,
                const Moments& moments,
                const Slices& slices,
                SumPair* memory,
                cudaStream_t stream);
/// Computes group norm.
void group_norm(const Forth& forth, cudaStream_t stream);

/// d bias = sum dy, d weight = sum dy x_hat; also dx, if it is not null.
void go_back(
    const Back& back, const Slices& slices, float* d_weight, float* d_bias, cudaStream_t stream);

}  // namespace gv::gpu
