#include <algorithm>

#include "optim/host_layer.h"

namespace gv {
namespace {

class MaxPool : public HostLayer {
 public:
  explicit MaxPool(const LayerPlace& place)
      : memory_(place.memory),
        x_(place.inputs[0].tensor),
        strides_{place.node.stride, place.node.stride},
        kernel_{place.node.kernel, place.node.kernel} {
    description_ = {{dnnl::prop_kind::forward_training,
                     kind,
                     x_.get_desc(),
                     picture_of(place.rows, place.node.out, dnnl::memory::format_tag::any),
                     strides_,
                     kernel_,
                     none_,
                     none_},
                    Primitive::attributes(),
                    memory_.engine()};
    set_output(memory_.lend(description_.dst_desc()));
    where_ = memory_.lend(description_.workspace_desc());
    run_forward_ = {memory_,
                    description_,
                    dnnl::pooling_forward(description_),
                    {{DNNL_ARG_SRC, x_}, {DNNL_ARG_DST, y_}, {DNNL_ARG_WORKSPACE, where_.tensor}}};
    if (!place.training) where_.hold.reset();
  }

  void forward(std::span<const float>, Moments) override { run_forward_.run(); }

  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool) override {
    incoming_ = IncomingGradient(memory_, parts, y_, false);
    Lease result = memory_.lend(x_.get_desc());
    const dnnl::pooling_backward::primitive_desc description(
        {kind, x_.get_desc(), y_.get_desc(), strides_, kernel_, none_, none_},
        Primitive::attributes(),
        memory_.engine(),
        description_);
    run_backward_ = {memory_,
                     description,
                     dnnl::pooling_backward(description),
                     {{DNNL_ARG_DIFF_DST, incoming_.tensor()},
                      {DNNL_ARG_WORKSPACE, where_.tensor},
                      {DNNL_ARG_DIFF_SRC, result.tensor}}};
    incoming_.drop();
    return {result};
  }
  void backward(std::span<const float>, std::span<float>) override {
    incoming_.gather();
    run_backward_.run();
  }

 private:
  static constexpr auto kind = dnnl::algorithm::pooling_max;
  HostMemory& memory_;
  dnnl::memory x_;
  dnnl::memory::dims strides_, kernel_, none_{0, 0};
  dnnl::pooling_forward::primitive_desc description_;
  Lease where_;  ///< which element of its window was the maximum
  Primitive run_forward_, run_backward_;
  IncomingGradient incoming_;
};

/// Over the whole picture.
class AveragePool : public HostLayer {
 public:
  explicit AveragePool(const LayerPlace& place)
      : memory_(place.memory), x_(place.inputs[0].tensor), layout_(layout_of(x_)) {
    set_output(memory_.lend(matrix_of(place.rows, place.node.out)));
  }

  void forward(std::span<const float>, Moments) override {
    const float share = 1.0F / static_cast<float>(layout_.pixels());
    each_channel([&](std::size_t from, std::size_t to) {
      const float* x = floats(x_) + from;
      float sum = 0;
      for (std::size_t p = 0; p < layout_.pixels(); ++p) sum += x[p * layout_.block];
      floats(y_)[to] = sum * share;
    });
  }
  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool) override {
    incoming_ = IncomingGradient(memory_, parts, y_, false);
    Lease result = memory_.lend(x_.get_desc());
    dx_ = result.tensor;
    incoming_.drop();
    return {result};
  }
  void backward(std::span<const float>, std::span<float>) override {
    incoming_.gather();
    std::fill_n(floats(dx_), float_count(dx_), 0.0F);  // the padding channels
    const float share = 1.0F / static_cast<float>(layout_.pixels());
    each_channel([&](std::size_t from, std::size_t to) {
      float* dx = floats(dx_) + from;
      const float value = floats(incoming_.tensor())[to] * share;
      for (std::size_t p = 0; p < layout_.pixels(); ++p) dx[p * layout_.block] = value;
    });
  }

 private:
  /// body(where the channel's first pixel lies, its number in [rows][channels])
  template <class Body>
  void each_channel(Body body) const {
    for (std::size_t r = 0; r < layout_.rows; ++r)
      for (std::size_t c = 0; c < layout_.channels; ++c)
        body(layout_.at(r, c), r * layout_.channels + c);
  }

  HostMemory& memory_;
  dnnl::memory x_, dx_;
  PictureLayout layout_;
  IncomingGradient incoming_;
};

}  // namespace

LayerPointer make_host_max_pool(const LayerPlace& place) {
  return std::make_unique<MaxPool>(place);
}

LayerPointer make_host_average_pool(const LayerPlace& place) {
  return std::make_unique<AveragePool>(place);
}

}  // namespace gv
