#include <algorithm>

#include "optim/host/host_layer.h"

namespace gv {
namespace {

class MaxPool : public PrimitiveLayer {
 public:
  explicit MaxPool(const LayerPlace& place)
      : PrimitiveLayer(place),
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

 private:
  void make_backward() override {
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
                      {DNNL_ARG_DIFF_SRC, dx_}}};
  }

  static constexpr auto kind = dnnl::algorithm::pooling_max;
  dnnl::memory::dims strides_, kernel_, none_{0, 0};
  dnnl::pooling_forward::primitive_desc description_;
  Lease where_;  ///< which element of its window was the maximum
};

/// Over the whole picture.
class AveragePool : public SingleInputLayer {
 public:
  explicit AveragePool(const LayerPlace& place) : SingleInputLayer(place), layout_(layout_of(x_)) {
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

  PictureLayout layout_;
};

}  // namespace

LayerPointer make_host_max_pool(const LayerPlace& place) {
  return std::make_unique<MaxPool>(place);
}

LayerPointer make_host_average_pool(const LayerPlace& place) {
  return std::make_unique<AveragePool>(place);
}

}  // namespace gv
