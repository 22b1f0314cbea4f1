#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"
#include "optim/check.h"

namespace gv::gpu {
namespace {

/// Pictures before and after; a plane is one channel of one row.
struct Planes {
  std::uint32_t channels, height, width;              ///< size of the input
  std::uint32_t out_channels, out_height, out_width;  ///< size of the output
  std::uint32_t kernel, stride;
};

struct Place {
  std::size_t row;
  std::uint32_t channel, y, x;
};

__device__ Place place(std::size_t k,
                       std::uint32_t channels,
                       std::uint32_t height,
                       std::uint32_t width) {
  const Divided line = divide(k, width);
  const Divided plane = divide(line.by, height);
  const Divided row = divide(plane.by, channels);
  return {.row = row.by,
          .channel = static_cast<std::uint32_t>(row.rest),
          .y = static_cast<std::uint32_t>(plane.rest),
          .x = static_cast<std::uint32_t>(line.rest)};
}

/// Returns the offset, in its plane, of the first maximum of the window at output pixel (y, x).
__device__ std::uint32_t first_maximum(const float* plane,
                                       const Planes& s,
                                       std::uint32_t y,
                                       std::uint32_t x) {
  std::uint32_t best = y * s.stride * s.width + x * s.stride;
  for (std::uint32_t i = 0; i < s.kernel; ++i) {
    for (std::uint32_t j = 0; j < s.kernel; ++j) {
      const std::uint32_t at = (y * s.stride + i) * s.width + x * s.stride + j;
      if (plane[best] < plane[at]) best = at;
    }
  }
  return best;
}

__global__ void max_pool_kernel(const float* in, float* out, Planes s, std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const Place p = place(k, s.channels, s.out_height, s.out_width);
  const float* plane = in + (p.row * s.channels + p.channel) * s.height * s.width;
  out[k] = plane[first_maximum(plane, s, p.y, p.x)];
}

/// Each input pixel checks for every window that covers it whether it is its first maximum. Nothing
/// is scattered, so the order of the sum is fixed.
__global__ void max_pool_back_kernel(
    const float* in, const float* d_out, float* d_in, Planes s, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const Place p = place(k, s.channels, s.height, s.width);
  const std::size_t plane = p.row * s.channels + p.channel;
  const float* values = in + plane * s.height * s.width;
  const float* d_values = d_out + plane * s.out_height * s.out_width;
  const std::uint32_t own = p.y * s.width + p.x;
  const std::uint32_t first_y = p.y < s.kernel ? 0 : (p.y - s.kernel) / s.stride + 1;
  const std::uint32_t first_x = p.x < s.kernel ? 0 : (p.x - s.kernel) / s.stride + 1;
  float sum = 0;
  for (std::uint32_t y = first_y; y < s.out_height && y * s.stride <= p.y; ++y)
    for (std::uint32_t x = first_x; x < s.out_width && x * s.stride <= p.x; ++x)
      if (first_maximum(values, s, y, x) == own) sum += d_values[y * s.out_width + x];
  d_in[k] = add ? d_in[k] + sum : sum;
}

/// One thread per plane: the pictures are small here.
__global__ void average_kernel(const float* in,
                               float* out,
                               std::uint32_t pixels,
                               std::size_t planes) {
  const std::size_t k = thread_index();
  if (k >= planes) return;
  float sum = 0;
  for (std::uint32_t p = 0; p < pixels; ++p) sum += in[k * pixels + p];
  out[k] = sum / static_cast<float>(pixels);
}

__global__ void average_back_kernel(
    const float* d_out, float* d_in, std::uint32_t pixels, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const float share = d_out[divide(k, pixels).by] / static_cast<float>(pixels);
  d_in[k] = add ? d_in[k] + share : share;
}

__global__ void shortcut_kernel(const float* in, float* out, Planes s, std::size_t count) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const Place p = place(k, s.out_channels, s.out_height, s.out_width);
  const std::uint32_t before = (s.out_channels - s.channels) / 2;
  const bool zero = p.channel < before || p.channel >= before + s.channels;
  const std::size_t plane = p.row * s.channels + (p.channel - before);
  out[k] = zero ? 0.0F : in[(plane * s.height + p.y * s.stride) * s.width + p.x * s.stride];
}

__global__ void shortcut_back_kernel(
    const float* d_out, float* d_in, Planes s, std::size_t count, bool add) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const Place p = place(k, s.channels, s.height, s.width);
  const std::uint32_t before = (s.out_channels - s.channels) / 2;
  const bool seen = p.y % s.stride == 0 && p.x % s.stride == 0;
  const std::size_t plane = p.row * s.out_channels + p.channel + before;
  const float share =
      seen ? d_out[(plane * s.out_height + p.y / s.stride) * s.out_width + p.x / s.stride] : 0.0F;
  d_in[k] = add ? d_in[k] + share : share;
}

class Pool : public Layer {
 public:
  explicit Pool(const LayerPlan& plan)
      : op_(plan.node.op),
        in_elements_(plan.in.elements()),
        out_elements_(plan.node.out.elements()),
        planes_{plan.in.channels,     plan.in.height,      plan.in.width,    plan.node.out.channels,
                plan.node.out.height, plan.node.out.width, plan.node.kernel, plan.node.stride} {}

  void forward(const Pass& pass) override {
    const std::size_t count = pass.rows * out_elements_;
    const cudaStream_t stream = pass.context.stream;
    if (op_ == Op::max_pool)
      launch(max_pool_kernel, count, stream, pass.in, pass.out, planes_, count);
    if (op_ == Op::average_pool)
      launch(average_kernel, count, stream, pass.in, pass.out, pixels(), count);
    if (op_ == Op::shortcut)
      launch(shortcut_kernel, count, stream, pass.in, pass.out, planes_, count);
  }

  void backward(const Pass& pass) override {
    if (pass.d_in == nullptr) return;
    const std::size_t count = pass.rows * in_elements_;
    const cudaStream_t stream = pass.context.stream;
    const float* dy = pass.d_out;
    if (op_ == Op::max_pool)
      launch(max_pool_back_kernel, count, stream, pass.in, dy, pass.d_in, planes_, count, pass.add);
    if (op_ == Op::average_pool)
      launch(average_back_kernel, count, stream, dy, pass.d_in, pixels(), count, pass.add);
    if (op_ == Op::shortcut)
      launch(shortcut_back_kernel, count, stream, dy, pass.d_in, planes_, count, pass.add);
  }

 private:
  std::uint32_t pixels() const { return planes_.height * planes_.width; }

  Op op_;
  std::size_t in_elements_, out_elements_;
  Planes planes_;
};

}  // namespace

std::unique_ptr<Layer> make_pool(const LayerPlan& plan) {
  return std::make_unique<Pool>(plan);
}

}  // namespace gv::gpu
