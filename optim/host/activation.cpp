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
  explicit Gelu(const LayerPlace& place) : PrimitiveLayer(place, 60) {
    set_output(memory_.lend(x_.get_desc()));
    slices_.each([this](std::uint32_t row, std::uint32_t count) {
      const auto description = describe(count);
      run_forward_.emplace_back(memory_,
                                description,
                                dnnl::eltwise_forward(description),
                                Arguments{{DNNL_ARG_SRC, rows_of(x_, row, count)},
                                          {DNNL_ARG_DST, rows_of(y_, row, count)}},
                                run_forward_.size());
    });
  }

 private:
  dnnl::eltwise_forward::primitive_desc describe(std::uint32_t rows) {
    return {{dnnl::prop_kind::forward_training, kind, *with_rows(x_.get_desc(), rows), 0, 0},
            Primitive::attributes(),
            memory_.engine()};
  }

  void make_backward() override {
    slices_.each([this](std::uint32_t row, std::uint32_t count) {
      const dnnl::memory::desc layout = *with_rows(x_.get_desc(), count);
      const dnnl::eltwise_backward::primitive_desc description(
          {kind, layout, layout, 0, 0}, Primitive::attributes(), memory_.engine(), describe(count));
      run_backward_.emplace_back(
          memory_,
          description,
          dnnl::eltwise_backward(description),
          Arguments{{DNNL_ARG_SRC, rows_of(x_, row, count)},
                    {DNNL_ARG_DIFF_DST, rows_of(incoming_.tensor(), row, count)},
                    {DNNL_ARG_DIFF_SRC, rows_of(dx_, row, count)}},
          run_backward_.size());
    });
  }

  static constexpr auto kind = dnnl::algorithm::eltwise_gelu_tanh;
};

}  // namespace

LayerPointer make_host_activation(const LayerPlace& place) {
  if (place.node.op == Op::relu) return std::make_unique<Relu>(place);
  return std::make_unique<Gelu>(place);
}

}  // namespace gv
