#include <algorithm>

#include "gpu/launch.h"
#include "gpu/layer.h"

// Batch norm (Ioffe & Szegedy 2015, arXiv:1502.03167, algorithm 1), group norm (Wu & He 2018,
// arXiv:1803.08494) and layer norm (Ba et al. 2016, arXiv:1607.06450) are one thing here: values
// [rows][channels][pixels], a mean and a deviation for each set of them, a weight and a bias for
// each channel. Sets: a channel over all rows (batch); adjacent channels of one row (group). Layer
// norm is a group norm with one group whose rows are the positions, of one pixel each.

namespace gv::gpu {
namespace {

/// Blocks that sum one channel's values, each a slice of them; then one adds the slices up.
constexpr std::uint32_t slices = 64;

struct Layout {
  std::size_t rows;  ///< of this pass
  std::uint32_t channels, pixels;
  std::uint32_t groups;  ///< 0: batch norm

  __device__ std::size_t set_of(std::size_t row, std::uint32_t channel) const {
    return groups == 0 ? channel : row * groups + channel / (channels / groups);
  }
};

struct Statistics {
  const float* mean;
  const float* inverse;  ///< 1 / sqrt(variance + epsilon)
};

/// What is summed over a channel: (x, x^2) forward; (dy, dy x_hat) backward.
struct Powers {
  const float* x;
  __device__ Two operator()(std::size_t k, std::size_t) const {
    const auto v = static_cast<double>(x[k]);
    return {v, v * v};
  }
};
struct Slopes {
  const float* x;
  const float* dy;
  Statistics s;
  __device__ Two operator()(std::size_t k, std::size_t set) const {
    const auto d = static_cast<double>(dy[k]);
    return {d, d * static_cast<double>((x[k] - s.mean[set]) * s.inverse[set])};
  }
};

/// partial[channel * slices + slice]: block (channel, slice).
template <class Term>
__global__ void channel_slice_kernel(Term term, Layout layout, Two* partial) {
  const std::uint32_t channel = blockIdx.x / slices;
  const std::uint32_t slice = blockIdx.x % slices;
  const std::size_t count = layout.rows * layout.pixels;
  Two sum;
  for (std::size_t i = std::size_t{slice} * blockDim.x + threadIdx.x; i < count;
       i += std::size_t{slices} * blockDim.x) {
    const std::size_t row = i / layout.pixels;
    const std::size_t pixel = i % layout.pixels;
    const Two t = term((row * layout.channels + channel) * layout.pixels + pixel,
                       layout.set_of(row, channel));
    sum.a += t.a;
    sum.b += t.b;
  }
  const Two total = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

__device__ Two channel_total(const Two* partial, std::uint32_t channel) {
  Two total;
  for (std::uint32_t s = 0; s < slices; ++s) {
    total.a += partial[channel * slices + s].a;
    total.b += partial[channel * slices + s].b;
  }
  return total;
}

/// total: sums over `count` of the values and of their squares. Returns the variance.
__device__ float put_statistics(
    Two total, double count, float epsilon, std::size_t set, float* mean, float* inverse) {
  const double m = total.a / count;
  const double variance = fmax(0.0, total.b / count - m * m);
  mean[set] = static_cast<float>(m);
  inverse[set] = static_cast<float>(1 / sqrt(variance + static_cast<double>(epsilon)));
  return static_cast<float>(variance);
}

/// memory: of the means and the mean squares of the batches that are remembered, their sums.
__global__ void batch_statistics_kernel(const Two* partial,
                                        Layout layout,
                                        float epsilon,
                                        float* mean,
                                        float* inverse,
                                        Moments moments,
                                        Two* memory) {
  const std::size_t c = thread_index();
  if (c >= layout.channels) return;
  const double count = static_cast<double>(layout.rows) * layout.pixels;
  const Two total = channel_total(partial, static_cast<std::uint32_t>(c));
  const float variance = put_statistics(total, count, epsilon, c, mean, inverse);
  if (moments.use != Moments::Use::remembered) return;
  if (moments.count == 0) memory[c] = Two{};
  const auto m = static_cast<double>(mean[c]);
  memory[c].a += m;
  memory[c].b += m * m + static_cast<double>(variance);
}

__global__ void given_statistics_kernel(const Two* memory,
                                        std::uint32_t channels,
                                        double batches,
                                        float epsilon,
                                        float* mean,
                                        float* inverse) {
  const std::size_t c = thread_index();
  if (c < channels) put_statistics(memory[c], batches, epsilon, c, mean, inverse);
}

/// A block to a group: `length` adjacent values.
__global__ void group_statistics_kernel(
    const float* x, std::uint32_t length, float epsilon, float* mean, float* inverse) {
  const float* own = x + std::size_t{blockIdx.x} * length;
  Two sum;
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const auto v = static_cast<double>(own[i]);
    sum.a += v;
    sum.b += v * v;
  }
  const Two total = block_sum(sum);
  if (threadIdx.x == 0) put_statistics(total, length, epsilon, blockIdx.x, mean, inverse);
}

__global__ void apply_kernel(
    const float* x, float* y, Layout layout, Statistics s, const float* weight, const float* bias) {
  const std::size_t k = thread_index();
  if (k >= layout.rows * layout.channels * layout.pixels) return;
  const std::size_t plane = k / layout.pixels;
  const auto channel = static_cast<std::uint32_t>(plane % layout.channels);
  const std::size_t set = layout.set_of(plane / layout.channels, channel);
  y[k] = (x[k] - s.mean[set]) * s.inverse[set] * weight[channel] + bias[channel];
}

/// d bias = sum dy, d weight = sum dy x_hat.
__global__ void affine_gradient_kernel(const Two* partial,
                                       std::uint32_t channels,
                                       float* d_weight,
                                       float* d_bias) {
  const std::size_t channel = thread_index();
  if (channel >= channels) return;
  const Two total = channel_total(partial, static_cast<std::uint32_t>(channel));
  d_bias[channel] = static_cast<float>(total.a);
  d_weight[channel] = static_cast<float>(total.b);
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
  Two sum;
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const double d = static_cast<double>(weight[i / b.layout.pixels] * b.dy[begin + i]);
    sum.a += d;
    sum.b += d * static_cast<double>((b.x[begin + i] - mean) * inverse);
  }
  const Two total = block_sum(sum);
  const auto mean_d = static_cast<float>(total.a / length);
  const auto mean_d_hat = static_cast<float>(total.b / length);
  for (std::uint32_t i = threadIdx.x; i < length; i += blockDim.x) {
    const float hat = (b.x[begin + i] - mean) * inverse;
    const float d = weight[i / b.layout.pixels] * b.dy[begin + i];
    b.put(begin + i, inverse * (d - mean_d - hat * mean_d_hat));
  }
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
        mean_(sets(plan.most_rows), "means of a norm"),
        inverse_(sets(plan.most_rows), "deviations of a norm"),
        partial_(std::size_t{channels_} * slices, "sums of a norm"),
        memory_(groups_ == 0 ? channels_ : 0, "moments of a norm") {}

  void forward(const Pass& pass) override {
    const Layout layout = layout_of(pass);
    groups_ == 0 ? find_batch_statistics(pass, layout) : find_group_statistics(pass, layout);
    launch(apply_kernel,
           layout.rows * channels_ * pixels_,
           pass.kit.stream,
           pass.in,
           pass.out,
           layout,
           statistics(),
           pass.parameters + weight_,
           pass.parameters + bias_);
  }

  void backward(const Pass& pass) override {
    const Layout layout = layout_of(pass);
    const cudaStream_t stream = pass.kit.stream;
    float* d_weight = pass.gradient + weight_;
    float* d_bias = pass.gradient + bias_;
    launch_blocks(channel_slice_kernel<Slopes>,
                  partial_.size(),
                  stream,
                  Slopes{pass.in, pass.d_out, statistics()},
                  layout,
                  partial_.data());
    launch(affine_gradient_kernel, channels_, stream, partial_.data(), channels_, d_weight, d_bias);
    if (pass.d_in == nullptr) return;
    const Back back{.x = pass.in,
                    .dy = pass.d_out,
                    .dx = pass.d_in,
                    .layout = layout,
                    .s = statistics(),
                    .weight = pass.parameters + weight_,
                    .add = pass.add};
    if (groups_ == 0)
      launch(batch_back_kernel, layout.rows * channels_ * pixels_, stream, back, d_weight, d_bias);
    else
      launch_blocks(group_back_kernel, layout.rows * groups_, stream, back);
  }

 private:
  void find_batch_statistics(const Pass& pass, const Layout& layout) {
    const cudaStream_t stream = pass.kit.stream;
    float* mean = mean_.data();
    float* inverse = inverse_.data();
    if (pass.moments.use == Moments::Use::given) {
      const double batches = pass.moments.count;
      launch(given_statistics_kernel,
             channels_,
             stream,
             memory_.data(),
             channels_,
             batches,
             epsilon_,
             mean,
             inverse);
      return;
    }
    launch_blocks(channel_slice_kernel<Powers>,
                  partial_.size(),
                  stream,
                  Powers{pass.in},
                  layout,
                  partial_.data());
    launch(batch_statistics_kernel,
           channels_,
           stream,
           partial_.data(),
           layout,
           epsilon_,
           mean,
           inverse,
           pass.moments,
           memory_.data());
  }

  void find_group_statistics(const Pass& pass, const Layout& layout) {
    launch_blocks(group_statistics_kernel,
                  layout.rows * groups_,
                  pass.kit.stream,
                  pass.in,
                  channels_ / groups_ * pixels_,
                  epsilon_,
                  mean_.data(),
                  inverse_.data());
  }

  std::size_t sets(std::uint32_t rows) const {
    return groups_ == 0 ? channels_ : std::size_t{rows} * positions_ * groups_;
  }
  Layout layout_of(const Pass& pass) const {
    return {std::size_t{pass.rows} * positions_, channels_, pixels_, groups_};
  }
  Statistics statistics() const { return {mean_.data(), inverse_.data()}; }

  std::uint32_t channels_, pixels_, groups_, positions_;
  float epsilon_;
  std::size_t weight_, bias_;
  DeviceArray<float> mean_, inverse_;
  DeviceArray<Two> partial_, memory_;
};

}  // namespace

std::unique_ptr<Layer> make_norm(const LayerPlan& plan) {
  return std::make_unique<NormLayer>(plan);
}

}  // namespace gv::gpu
