#include <algorithm>

#include "optim/host_layer.h"

namespace gv {
namespace {

class Relu : public HostLayer {
 public:
  explicit Relu(const LayerPlace& place) : memory_(place.memory), x_(place.inputs[0].tensor) {
    set_output(memory_.lend(x_.get_desc()));
  }

  void forward(std::span<const float>, Moments) override {
    const float* x = floats(x_);
    float* y = floats(y_);
    for (std::size_t k = 0, n = float_count(y_); k < n; ++k) y[k] = std::max(x[k], 0.0F);
  }
  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool) override {
    incoming_ = IncomingGradient(memory_, parts, y_, true);
    const Lease result = incoming_.lease();
    incoming_.drop();
    return {result};
  }
  void backward(std::span<const float>, std::span<float>) override { incoming_.gather(); }

 private:
  HostMemory& memory_;
  dnnl::memory x_;
  IncomingGradient incoming_;
};

/// Hendrycks & Gimpel 2016, "Gaussian error linear units", arXiv:1606.08415, section 2, the form
/// with tanh.
class Gelu : public HostLayer {
 public:
  explicit Gelu(const LayerPlace& place) : memory_(place.memory), x_(place.inputs[0].tensor) {
    set_output(memory_.lend(x_.get_desc()));
    description_ = {{dnnl::prop_kind::forward_training, kind, x_.get_desc(), 0, 0},
                    Primitive::attributes(),
                    memory_.engine()};
    run_forward_ = {memory_,
                    description_,
                    dnnl::eltwise_forward(description_),
                    {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DST, y_}}};
  }

  void forward(std::span<const float>, Moments) override { run_forward_.run(); }
  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool) override {
    incoming_ = IncomingGradient(memory_, parts, y_, false);
    Lease result = memory_.lend(x_.get_desc());
    const dnnl::eltwise_backward::primitive_desc description(
        {kind, x_.get_desc(), x_.get_desc(), 0, 0},
        Primitive::attributes(),
        memory_.engine(),
        description_);
    run_backward_ = {memory_,
                     description,
                     dnnl::eltwise_backward(description),
                     {{DNNL_ARG_SRC, x_},
                      {DNNL_ARG_DIFF_DST, incoming_.tensor()},
                      {DNNL_ARG_DIFF_SRC, result.tensor}}};
    incoming_.drop();
    return {result};
  }
  void backward(std::span<const float>, std::span<float>) override {
    incoming_.gather();
    run_backward_.run();
  }

 private:
  static constexpr auto kind = dnnl::algorithm::eltwise_gelu_tanh;
  HostMemory& memory_;
  dnnl::memory x_;
  dnnl::eltwise_forward::primitive_desc description_;
  Primitive run_forward_, run_backward_;
  IncomingGradient incoming_;
};

}  // namespace

LayerPointer make_host_activation(const LayerPlace& place) {
  if (place.node.op == Op::relu) return std::make_unique<Relu>(place);
  return std::make_unique<Gelu>(place);
}

}  // namespace gv
