#include "gpu/device/launch.h"
#include "gpu/layers/layer.h"

namespace gv::gpu {
namespace {

/// y[n * width + c] += bias[c], and the relu that follows.
__global__ void bias_kernel(
    float* y, const float* bias, std::size_t count, std::uint32_t width, bool relu) {
  const std::size_t k = thread_index();
  if (k >= count) return;
  const float z = y[k] + bias[k % width];
  y[k] = relu && z < 0 ? 0.0F : z;
}

/// y = x W^T + b at each position.
class Linear : public Layer {
 public:
  explicit Linear(const LayerPlan& plan)
      : in_(static_cast<std::uint32_t>(plan.in.elements() / plan.in.positions)),
        out_(plan.node.out.channels),
        positions_(plan.in.positions),
        relu_(plan.relu_follows),
        weight_(plan.offset(0)),
        biased_(plan.has(1)),
        bias_(biased_ ? plan.offset(1) : 0) {
    const std::size_t n = std::size_t{plan.most_rows} * positions_;
    const std::size_t weights = std::size_t{in_} * out_;
    // Factors: x and W, dy and x, dy and W.
    plan.context.reserve_factors(n * std::max(in_, out_), std::max(weights, n * in_));
    plan.context.reserve_ones(n);
  }

  void forward(const Pass& pass) override {
    const std::uint32_t n = pass.rows * positions_;
    multiply(pass.context,
             {.m = n,
              .n = out_,
              .k = in_,
              .a = {.data = pass.in, .row = in_},
              .b = {.data = pass.parameters + weight_, .transposed = true, .row = in_},
              .c = pass.out,
              .c_row = out_});
    if (!biased_) return;
    const std::size_t count = std::size_t{n} * out_;
    launch(bias_kernel,
           count,
           pass.context.stream,
           pass.out,
           pass.parameters + bias_,
           count,
           out_,
           relu_);
  }

  void backward(const Pass& pass) override {
    const std::uint32_t n = pass.rows * positions_;
    multiply(pass.context,
             {.m = out_,
              .n = in_,
              .k = n,
              .a = {.data = pass.d_out, .transposed = true, .row = out_},
              .b = {.data = pass.in, .row = in_},
              .c = pass.gradient + weight_,
              .c_row = in_});
    if (biased_) sum_rows(pass.context, pass.d_out, n, out_, pass.gradient + bias_);
    if (pass.d_in == nullptr) return;
    multiply(pass.context,
             {.m = n,
              .n = in_,
              .k = out_,
              .a = {.data = pass.d_out, .row = out_},
              .b = {.data = pass.parameters + weight_, .row = in_},
              .c = pass.d_in,
              .c_row = in_,
              .beta = pass.add ? 1.0F : 0.0F});
  }

 private:
  std::uint32_t in_, out_, positions_;
  bool relu_;
  std::size_t weight_;
  bool biased_;
  std::size_t bias_;
};

}  // namespace

std::unique_ptr<Layer> make_linear(const LayerPlan& plan) {
  return std::make_unique<Linear>(plan);
}

}  // namespace gv::gpu
