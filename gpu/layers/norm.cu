#include <algorithm>

#include "gpu/layers/layer.h"
#include "gpu/layers/norm_kernels.h"

namespace gv::gpu {
namespace {

__global__ void apply_kernel(
    const float* x, float* y, Layout layout, Statistics s, const float* weight, const float* bias) {
  const std::size_t k = thread_index();
  if (k >= layout.rows * layout.channels * layout.pixels) return;
  const std::size_t plane = k / layout.pixels;
  const auto channel = static_cast<std::uint32_t>(plane % layout.channels);
  const std::size_t set = layout.set_of(plane / layout.channels, channel);
  y[k] = (x[k] - s.mean[set]) * s.inverse[set] * weight[channel] + bias[channel];
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
        partial_(std::size_t{channels_} * most_slices, "sums of a norm"),
        memory_(groups_ == 0 ? channels_ : 0, "moments of a norm") {}

  void forward(const Pass& pass) override {
    const Layout layout = layout_of(pass);
    float* mean = mean_.data();
    float* inverse = inverse_.data();
    if (groups_ == 0)
      find_batch_statistics(pass, layout, epsilon_, mean, inverse, partial_.data(), memory_.data());
    else
      find_group_statistics(pass, layout, epsilon_, mean, inverse);
    launch(apply_kernel,
           layout.rows * channels_ * pixels_,
           pass.context.stream,
           pass.in,
           pass.out,
           layout,
           statistics(),
           pass.parameters + weight_,
           pass.parameters + bias_);
  }

  void backward(const Pass& pass) override {
    const cudaStream_t stream = pass.context.stream;
    float* d_weight = pass.gradient + weight_;
    float* d_bias = pass.gradient + bias_;
    const Back back{.x = pass.in,
                    .dy = pass.d_out,
                    .dx = pass.d_in,
                    .layout = layout_of(pass),
                    .s = statistics(),
                    .weight = pass.parameters + weight_,
                    .add = pass.add};
    find_affine_gradient(back, partial_.data(), d_weight, d_bias, stream);
    if (pass.d_in != nullptr) go_back(back, d_weight, d_bias, stream);
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
            .slices = std::min(most_slices, blocks_for(rows * pixels_))};
  }
  Statistics statistics() const { return {mean_.data(), inverse_.data()}; }

  std::uint32_t channels_, pixels_, groups_, positions_;
  float epsilon_;
  std::size_t weight_, bias_;
  DeviceArray<float> mean_, inverse_;
  DeviceArray<SumPair> partial_, memory_;
};

}  // namespace

std::unique_ptr<Layer> make_norm(const LayerPlan& plan) {
  return std::make_unique<NormLayer>(plan);
}

}  // namespace gv::gpu
