#include <algorithm>

#include "optim/host/host_layer.h"

namespace gv {
namespace {

class MaxPool : public PrimitiveLayer {
 public:
  explicit MaxPool(const LayerPlace& place)
      : PrimitiveLayer(place, 40),
        strides_{place.node.stride, place.node.stride},
        kernel_{place.node.kernel, place.node.kernel} {
    const auto whole = describe(
        x_.get_desc(), picture_of(place.rows, place.node.out, dnnl::memory::format_tag::any));
    set_output(memory_.lend(whole.dst_desc()));
    where_ = memory_.lend(whole.workspace_desc());
    if (!with_rows(whole.dst_desc(), 1) || !with_rows(whole.workspace_desc(), 1))
      slices_.rows_of_one = slices_.rows;
    slices_.each([this](std::uint32_t row, std::uint32_t count) {
      const auto description = describe_rows(count);
      run_forward_.emplace_back(memory_,
                                description,
                                dnnl::pooling_forward(description),
                                Arguments{{DNNL_ARG_SRC, rows_of(x_, row, count)},
                                          {DNNL_ARG_DST, rows_of(y_, row, count)},
                                          {DNNL_ARG_WORKSPACE, rows_of(where_.tensor, row, count)}},
                                run_forward_.size());
    });
    if (!place.training) where_.hold.reset();
  }

 private:
  dnnl::pooling_forward::primitive_desc describe(const dnnl::memory::desc& in,
                                                 const dnnl::memory::desc& out) {
    return {{dnnl::prop_kind::forward_training, kind, in, out, strides_, kernel_, none_, none_},
            Primitive::attributes(),
            memory_.engine()};
  }
  dnnl::pooling_forward::primitive_desc describe_rows(std::uint32_t count) {
    return describe(*with_rows(x_.get_desc(), count), *with_rows(y_.get_desc(), count));
  }

  void make_backward() override {
    slices_.each([this](std::uint32_t row, std::uint32_t count) {
      const dnnl::pooling_backward::primitive_desc description({kind,
                                                                *with_rows(x_.get_desc(), count),
                                                                *with_rows(y_.get_desc(), count),
                                                                strides_,
                                                                kernel_,
                                                                none_,
                                                                none_},
                                                               Primitive::attributes(),
                                                               memory_.engine(),
                                                               describe_rows(count));
      run_backward_.emplace_back(
          memory_,
          description,
          dnnl::pooling_backward(description),
          Arguments{{DNNL_ARG_DIFF_DST, rows_of(incoming_.tensor(), row, count)},
                    {DNNL_ARG_WORKSPACE, rows_of(where_.tensor, row, count)},
                    {DNNL_ARG_DIFF_SRC, rows_of(dx_, row, count)}},
          run_backward_.size());
    });
  }

  static constexpr auto kind = dnnl::algorithm::pooling_max;
  dnnl::memory::dims strides_, kernel_, none_{0, 0};
  Lease where_;  ///< which element of its window was the maximum
};

/// The average over the whole picture.
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
