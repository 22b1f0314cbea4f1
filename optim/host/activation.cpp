#include <algorithm>

#include "optim/host/host_layer.h"

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
class Gelu : public PrimitiveLayer {
 public:
  explicit Gelu(const LayerPlace& place) : PrimitiveLayer(place) {
    set_output(memory_.lend(x_.get_desc()));
    description_ = {{dnnl::prop_kind::forward_training, kind, x_.get_desc(), 0, 0},
                    Primitive::attributes(),
                    memory_.engine()};
    run_forward_ = {memory_,
                    description_,
                    dnnl::eltwise_forward(description_),
                    {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DST, y_}}};
  }

 private:
  void make_backward() override {
    const dnnl::eltwise_backward::primitive_desc description(
        {kind, x_.get_desc(), x_.get_desc(), 0, 0},
        Primitive::attributes(),
        memory_.engine(),
        description_);
    run_backward_ = {
        memory_,
        description,
        dnnl::eltwise_backward(description),
        {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DIFF_DST, incoming_.tensor()}, {DNNL_ARG_DIFF_SRC, dx_}}};
  }

  static constexpr auto kind = dnnl::algorithm::eltwise_gelu_tanh;
  dnnl::eltwise_forward::primitive_desc description_;
};

}  // namespace

LayerPointer make_host_activation(const LayerPlace& place) {
  if (place.node.op == Op::relu) return std::make_unique<Relu>(place);
  return std::make_unique<Gelu>(place);
}

}  // namespace gv
