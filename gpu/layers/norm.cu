#include <algorithm>

#include "gpu/layers/layer.h"
#include "gpu/layers/norm_kernels.h"

namespace gv::gpu {
namespace {

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
