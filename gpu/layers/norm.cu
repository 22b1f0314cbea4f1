#include <algorithm>

#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"

// Batch norm (Ioffe & Szegedy 2015, arXiv:1502.03167, algorithm 1), group norm (Wu & He 2018,
// arXiv:1803.08494) and layer norm (Ba et al. 2016, arXiv:1607.06450) share one form: values
// [rows][channels][pixels], a mean and a deviation for each set of values, a weight and a bias for
// each channel. A set is a channel over all rows (batch) or adjacent channels of one row (group).
// Layer norm is a group norm with one group whose rows are the positions, of one pixel each.
// All arguments are in the device's memory; a call puts kernels into the stream and returns.

namespace gv::gpu {
namespace {

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

/// The pair that is summed over a channel: (x, x^2).
struct Powers {
  const float* x;
  __device__ SumPair operator()(std::size_t k, std::size_t) const {
    const auto v = static_cast<double>(x[k]);
    return {v, v * v};
  }
};

/// Stores a set's statistics. total: sums of values and of squares. Returns the variance.
__device__ float put_statistics(SumPair total, double count, const Forth& forth, std::size_t set) {
  const double m = total.a / count;
  const double variance = fmax(0.0, total.b / count - m * m);
  forth.mean[set] = static_cast<float>(m);
  forth.inverse[set] = static_cast<float>(1 / sqrt(variance + static_cast<double>(forth.epsilon)));
  return static_cast<float>(variance);
}

/// Statistics of a channel of the batch, which are remembered if the moments demand it.
struct BatchStatistics {
  Forth forth;
  Moments moments;
  SumPair* memory;

  __device__ void operator()(std::size_t c, SumPair total) const {
    const double count = static_cast<double>(forth.layout.rows) * forth.layout.pixels;
    const float variance = put_statistics(total, count, forth, c);
    if (moments.use != Moments::Use::remembered) return;
    if (moments.count == 0) memory[c] = SumPair{};
    const auto m = static_cast<double>(forth.mean[c]);
    memory[c].a += m;
    memory[c].b += m * m + static_cast<double>(variance);
  }
};

__global__ void given_statistics_kernel(const SumPair* memory, double batches, Forth forth) {
  const std::size_t c = thread_index();
  if (c < forth.layout.channels) put_statistics(memory[c], batches, forth, c);
}

__global__ void apply_kernel(Forth forth, std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const std::size_t c = divide(divide(k, forth.layout.pixels).by, forth.layout.channels).rest;
  forth.put(k, forth.mean[c], forth.inverse[c], c);
}

/// One block per channel of a batch norm, from the sums to the values.
__global__ void __launch_bounds__(wide_threads) batch_kernel(BatchStatistics statistics) {
  const Forth& forth = statistics.forth;
  const std::uint32_t channel = blockIdx.x;
  const std::size_t count = forth.layout.rows * forth.layout.pixels;
  const SumPair total = sum_of_channel(forth.layout, channel, Powers{forth.x});
  if (threadIdx.x == 0) statistics(channel, total);
  __syncthreads();
  const float mean = forth.mean[channel];
  const float inverse = forth.inverse[channel];
  for (std::size_t i = threadIdx.x; i < count; i += wide_threads)
    forth.put(forth.layout.of_channel(channel, i), mean, inverse, channel);
}

/// One block per group of `length` adjacent values.
__global__ void group_kernel(Forth forth, std::uint32_t length) {
  const std::size_t begin = std::size_t{blockIdx.x} * length;
  const Powers powers{forth.x};
  SumPair sum;
  for (std::uint32_t i = threadIdx.x; i < length; i += block_threads) {
    const SumPair t = powers(begin + i, 0);
    sum.a += t.a;
    sum.b += t.b;
  }
  const SumPair total = block_sum(sum);
  if (threadIdx.x == 0) put_statistics(total, length, forth, blockIdx.x);
  __syncthreads();
  const float mean = forth.mean[blockIdx.x];
  const float inverse = forth.inverse[blockIdx.x];
  const std::uint32_t width = forth.layout.channels / forth.layout.groups;
  const std::uint32_t first = blockIdx.x % forth.layout.groups * width;
  for (std::uint32_t i = threadIdx.x; i < length; i += block_threads)
    forth.put(begin + i, mean, inverse, first + i / forth.layout.pixels);
}

/// Computes batch norm, with the moments of this batch or with those in `memory`, which holds the
/// sums of the batches' means and mean squares.
void batch_norm(const Forth& forth,
                const Moments& moments,
                const Slices& slices,
                SumPair* memory,
                cudaStream_t stream) {
  const Layout& layout = forth.layout;
  const BatchStatistics statistics{forth, moments, memory};
  const bool given = moments.use == Moments::Use::given;
  if (!given && layout.alone())
    return launch_wide_blocks(batch_kernel, layout.channels, stream, statistics);
  if (given) {
    const double batches = moments.count;
    launch(given_statistics_kernel, layout.channels, stream, memory, batches, forth);
  } else {
    launch_blocks(channel_slice_kernel<Powers, BatchStatistics>,
                  std::size_t{layout.channels} * layout.slices, stream, Powers{forth.x}, statistics,
                  layout, slices);
  }
  launch(apply_kernel, layout.count(), stream, forth, layout.count());
}

/// Computes group norm.
void group_norm(const Forth& forth, cudaStream_t stream) {
  const Layout& layout = forth.layout;
  const std::uint32_t length = layout.channels / layout.groups * layout.pixels;
  launch_blocks(group_kernel, layout.rows * layout.groups, stream, forth, length);
}

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

/// d bias = sum dy, d weight = sum dy x_hat; also dx, if it is not null.
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

class NormLayer : public Layer {
 public:
  explicit NormLayer(const LayerPlan& plan)
      : channels_(plan.in.channels),
        pixels_(plan.in.height * plan.in.width),
        groups_(plan.node.op == Op::batch_norm ? 0 : plan.node.groups),
        positions_(plan.in.positions),
        epsilon_(plan.node.epsilon),
        weight_(plan.offset(0)),
        bias_(plan.offset(1)),
        residual_(plan.residual),
        relu_(plan.then == Op::relu),
        mean_(sets(plan.most_rows), "means of a norm"),
        inverse_(sets(plan.most_rows), "deviations of a norm"),
        partial_(std::size_t{channels_} * most_slices, "sums of a norm"),
        came_(channels_, "sums of a norm"),
        memory_(groups_ == 0 ? channels_ : 0, "moments of a norm") {}

  void forward(const Pass& pass) override {
    const Forth forth{.x = pass.in,
                      .y = pass.out,
                      .layout = layout_of(pass),
                      .mean = mean_.data(),
                      .inverse = inverse_.data(),
                      .epsilon = epsilon_,
                      .weight = pass.parameters + weight_,
                      .bias = pass.parameters + bias_,
                      .behind = {.residual = residual_ ? pass.in2 : nullptr, .relu = relu_}};
    if (groups_ == 0)
      batch_norm(forth, pass.moments, slices(), memory_.data(), pass.context.stream);
    else
      group_norm(forth, pass.context.stream);
  }

  void backward(const Pass& pass) override {
    // Without a relu the gradient by the residual is that by the sum, and may lie there already.
    const bool passed_on = pass.d_in2 == pass.d_out && !relu_;
    const Back back{.x = pass.in,
                    .dy = pass.d_out,
                    .y = relu_ ? pass.out : nullptr,
                    .dx = pass.d_in,
                    .d_residual = passed_on ? nullptr : pass.d_in2,
                    .layout = layout_of(pass),
                    .s = {mean_.data(), inverse_.data()},
                    .weight = pass.parameters + weight_,
                    .add = pass.add,
                    .add_residual = pass.add2};
    go_back(back, slices(), pass.gradient + weight_, pass.gradient + bias_, pass.context.stream);
  }

 private:
  std::size_t sets(std::uint32_t rows) const {
    return groups_ == 0 ? channels_ : std::size_t{rows} * positions_ * groups_;
  }
  Layout layout_of(const Pass& pass) const {
    const std::size_t rows = std::size_t{pass.rows} * positions_;
    return {.rows = rows,
            .channels = channels_,
            .pixels = pixels_,
            .groups = groups_,
            .slices = static_cast<std::uint32_t>(
                std::min(std::size_t{most_slices}, blocks_for(rows * pixels_)))};
  }
  Slices slices() { return {partial_.data(), came_.data()}; }

  std::uint32_t channels_, pixels_, groups_, positions_;
  float epsilon_;
  std::size_t weight_, bias_;
  bool residual_, relu_;  ///< whether each is applied after the norm
  DeviceArray<float> mean_, inverse_;
  DeviceArray<SumPair> partial_;
  DeviceArray<std::uint32_t> came_;
  DeviceArray<SumPair> memory_;
};

}  // namespace

std::unique_ptr<Layer> make_norm(const LayerPlan& plan) {
  return std::make_unique<NormLayer>(plan);
}

}  // namespace gv::gpu
