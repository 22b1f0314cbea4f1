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

/// Blocks that sum one channel's values, each a slice of them; the last of them adds the slices up.
/// Fewer where they would be empty: a layer norm has a channel's few values of each position.
constexpr std::uint32_t most_slices = 64;
/// A channel of a batch norm with no more values than this is one block's alone, which sums them
/// and then uses the sums: a kernel less each way, 32 values to a thread.
constexpr std::size_t most_alone = 32 * wide_threads;

struct Layout {
  std::size_t rows;  ///< of this pass
  std::uint32_t channels, pixels;
  std::uint32_t groups;  ///< 0: batch norm
  std::uint32_t slices;

  __device__ std::size_t set_of(std::size_t row, std::uint32_t channel) const {
    return groups == 0 ? channel : row * groups + channel / (channels / groups);
  }
  /// Returns where value i of a channel lies.
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

/// The place where the slices of a channel meet.
struct Slices {
  SumPair* sums;        ///< [channel * slices + slice]
  std::uint32_t* came;  ///< [channel]: how many are there; 0 between kernels
};

/// Calls finish(channel, the sums of `term` over its values): block (channel, slice).
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

/// The sums of `term` over a channel of a batch norm, by a block of wide_threads threads; every
/// thread gets them.
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

/// The work that is done behind a norm, to element k.
struct Behind {
  const float* residual;  ///< null: none
  bool relu;

  __device__ float operator()(float v, std::size_t k) const {
    if (residual != nullptr) v += residual[k];
    return relu && v < 0 ? 0.0F : v;
  }
};

/// All that a way there needs.
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

/// All that a way back from dy to dx needs.
struct Back {
  const float* x;
  const float* dy;
  const float* y;  ///< behind a relu, which stopped what is not positive there; null: no relu
  float* dx;
  float* d_residual;  ///< may be dy itself; null: nobody asks, or dy is it already
  Layout layout;
  Statistics s;
  const float* weight;
  bool add, add_residual;  ///< another consumer's share is there

  __device__ float slope(std::size_t k) const { return y == nullptr || y[k] > 0 ? dy[k] : 0.0F; }
  /// slope: what slope(k) was.
  __device__ void put(std::size_t k, float slope, float share) const {
    dx[k] = add ? dx[k] + share : share;
    if (d_residual != nullptr) d_residual[k] = add_residual ? d_residual[k] + slope : slope;
  }
};

/// Does batch norm, with moments as the pass says: of these values, or of the batches in `memory`,
/// where the sums of their means and mean squares are.
void batch_norm(const Forth& forth,
                const Moments& moments,
                const Slices& slices,
                SumPair* memory,
                cudaStream_t stream);
/// Does group norm.
void group_norm(const Forth& forth, cudaStream_t stream);

/// d bias = sum dy, d weight = sum dy x_hat; dx, where it is asked for.
void go_back(
    const Back& back, const Slices& slices, float* d_weight, float* d_bias, cudaStream_t stream);

}  // namespace gv::gpu
