#include "optim/host/host_layer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

/// out <- sum of the parts; optimized for the common case of two.
void sum_parts(const std::vector<dnnl::memory>& parts, float* out, std::size_t n) {
  const float* a = floats(parts[0]);
  if (parts.size() == 1) {
    std::copy_n(a, n, out);
    return;
  }
  const float* b = floats(parts[1]);
  for (std::size_t k = 0; k < n; ++k) out[k] = a[k] + b[k];
  for (std::size_t p = 2; p < parts.size(); ++p) {
    const float* c = floats(parts[p]);
    for (std::size_t k = 0; k < n; ++k) out[k] += c[k];
  }
}

/// out[k] <- value(k) if y[k] > 0, else zero. Uses a bit mask: under a plain condition g++ 12 does
/// not vectorize the sum of two parts, and ResNet-20 spends a tenth of its step here.
template <class Value>
void where_positive(const float* y, std::size_t n, float* out, Value value) {
  for (std::size_t k = 0; k < n; ++k) {
    const std::uint32_t mask = y[k] > 0 ? ~std::uint32_t{0} : 0;
    out[k] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value(k)) & mask);
  }
}

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
      run_forward_.emplace_back(memory_, description, dnnl::eltwise_forward(description),
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
          memory_, description, dnnl::eltwise_backward(description),
          Arguments{{DNNL_ARG_SRC, rows_of(x_, row, count)},
                    {DNNL_ARG_DIFF_DST, rows_of(incoming_.tensor(), row, count)},
                    {DNNL_ARG_DIFF_SRC, rows_of(dx_, row, count)}},
          run_backward_.size());
    });
  }

  static constexpr auto kind = dnnl::algorithm::eltwise_gelu_tanh;
};

/// The token's row plus the position's row.
class Embedding : public HostLayer {
 public:
  Embedding(const LayerPlace& place, std::span<const std::uint8_t> tokens)
      : memory_(place.memory),
        token_(place.tensor(0)),
        position_(place.tensor(1)),
        width_(place.node.out.channels),
        positions_(place.node.out.positions),
        tokens_(tokens) {
    set_output(memory_.lend(matrix_of(place.rows, place.node.out)));
  }

  void forward(std::span<const float> x, Moments) override {
    for (std::size_t k = 0; k < tokens_.size(); ++k) {
      const float* token = x.data() + token_.offset + tokens_[k] * width_;
      const float* position = x.data() + position_.offset + k % positions_ * width_;
      float* y = floats(y_) + k * width_;
      for (std::size_t c = 0; c < width_; ++c) y[c] = token[c] + position[c];
    }
  }

  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool) override {
    incoming_ = IncomingGradient(memory_, parts, y_, false);
    incoming_.drop();
    return {};
  }

  void backward(std::span<const float>, std::span<float> g) override {
    incoming_.gather();
    std::fill_n(g.data() + token_.offset, token_.count, 0.0F);
    std::fill_n(g.data() + position_.offset, position_.count, 0.0F);
    for (std::size_t k = 0; k < tokens_.size(); ++k) {
      float* token = g.data() + token_.offset + tokens_[k] * width_;
      float* position = g.data() + position_.offset + k % positions_ * width_;
      const float* dy = floats(incoming_.tensor()) + k * width_;
      for (std::size_t c = 0; c < width_; ++c) token[c] += dy[c];
      for (std::size_t c = 0; c < width_; ++c) position[c] += dy[c];
    }
  }

 private:
  HostMemory& memory_;
  Tensor token_, position_;
  std::size_t width_, positions_;
  std::span<const std::uint8_t> tokens_;
  IncomingGradient incoming_;
};

/// Ba, Kiros & Hinton 2016, "Layer normalization", arXiv:1607.06450, equation 4: each position by
/// the mean and deviation of its own channels.
class LayerNorm : public SingleInputLayer {
 public:
  explicit LayerNorm(const LayerPlace& place)
      : SingleInputLayer(place),
        epsilon_(place.node.epsilon),
        weight_(place.tensor(0).offset),
        bias_(place.tensor(1).offset),
        channels_(place.node.out.channels),
        positions_(std::size_t{place.rows} * place.node.out.positions),
        mean_(positions_),
        inverse_(positions_) {
    set_output(memory_.lend(x_.get_desc()));
  }

  void forward(std::span<const float> x, Moments) override {
    const float* weight = x.data() + weight_;
    const float* bias = x.data() + bias_;
    const auto n = static_cast<float>(channels_);
    for (std::size_t p = 0; p < positions_; ++p) {
      const float* in = floats(x_) + p * channels_;
      float* out = floats(y_) + p * channels_;
      float sum = 0;
      for (std::size_t c = 0; c < channels_; ++c) sum += in[c];
      const float mean = sum / n;
      float squares = 0;
      for (std::size_t c = 0; c < channels_; ++c) squares += (in[c] - mean) * (in[c] - mean);
      const float inverse = 1 / std::sqrt(squares / n + epsilon_);
      for (std::size_t c = 0; c < channels_; ++c)
        out[c] = (in[c] - mean) * inverse * weight[c] + bias[c];
      mean_[p] = mean;
      inverse_[p] = inverse;
    }
  }

  void backward(std::span<const float> x, std::span<float> g) override {
    incoming_.gather();
    const float* weight = x.data() + weight_;
    float* own_weight = g.data() + weight_;
    float* own_bias = g.data() + bias_;
    std::fill_n(own_weight, channels_, 0.0F);
    std::fill_n(own_bias, channels_, 0.0F);
    const auto n = static_cast<float>(channels_);
    for (std::size_t p = 0; p < positions_; ++p) {
      const float* in = floats(x_) + p * channels_;
      const float* dy = floats(incoming_.tensor()) + p * channels_;
      float* dx = floats(dx_) + p * channels_;
      float sum = 0;
      float product = 0;
      for (std::size_t c = 0; c < channels_; ++c) {
        const float normal = (in[c] - mean_[p]) * inverse_[p];
        own_weight[c] += dy[c] * normal;
        own_bias[c] += dy[c];
        sum += dy[c] * weight[c];
        product += dy[c] * weight[c] * normal;
      }
      for (std::size_t c = 0; c < channels_; ++c) {
        const float normal = (in[c] - mean_[p]) * inverse_[p];
        dx[c] = inverse_[p] * (dy[c] * weight[c] - sum / n - normal * product / n);
      }
    }
  }

 private:
  float epsilon_;
  std::size_t weight_, bias_, channels_, positions_;
  std::vector<float> mean_, inverse_;  ///< by position
};

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
      run_forward_.emplace_back(memory_, description, dnnl::pooling_forward(description),
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
      const dnnl::pooling_backward::primitive_desc description(
          {kind, *with_rows(x_.get_desc(), count), *with_rows(y_.get_desc(), count), strides_,
           kernel_, none_, none_},
          Primitive::attributes(), memory_.engine(), describe_rows(count));
      run_backward_.emplace_back(
          memory_, description, dnnl::pooling_backward(description),
          Arguments{{DNNL_ARG_DIFF_DST, rows_of(incoming_.tensor(), row, count)},
                    {DNNL_ARG_WORKSPACE, rows_of(where_.tensor, row, count)},
                    {DNNL_ARG_DIFF_SRC, rows_of(dx_, row, count)}},
          run_backward_.size());
    });
  }

  static constexpr auto kind = dnnl::algorithm::pooling_max;
  dnnl::memory::dims strides_, kernel_, none_{0, 0};
  Lease where_;  ///< index of the maximum in each window
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
  /// body(offset of the channel's first pixel, its number in [rows][channels])
  template <class Body>
  void each_channel(Body body) const {
    for (std::size_t r = 0; r < layout_.rows; ++r)
      for (std::size_t c = 0; c < layout_.channels; ++c)
        body(layout_.at(r, c), r * layout_.channels + c);
  }

  PictureLayout layout_;
};

}  // namespace

IncomingGradient::IncomingGradient(HostMemory& memory,
                                   const std::vector<Lease>& parts,
                                   const dnnl::memory& y,
                                   bool relu)
    : y_(y), relu_(relu) {
  GV_CHECK(!parts.empty(), "a layer whose output is used");
  for (const Lease& part : parts) {
    GV_CHECK(part.tensor.get_desc() == y.get_desc(), "gradients in the layout of the value");
    parts_.push_back(part.tensor);
  }
  sum_ = parts.size() == 1 && !relu ? parts.front() : memory.lend(y.get_desc());
}

void IncomingGradient::gather() {
  if (parts_.size() == 1 && !relu_) return;
  float* out = floats(sum_.tensor);
  const std::size_t n = float_count(y_);
  if (!relu_) return sum_parts(parts_, out, n);
  const float* y = floats(y_);
  const float* a = floats(parts_[0]);
  if (parts_.size() == 1) {
    where_positive(y, n, out, [a](std::size_t k) { return a[k]; });
  } else if (parts_.size() == 2) {
    const float* b = floats(parts_[1]);
    where_positive(y, n, out, [a, b](std::size_t k) { return a[k] + b[k]; });
  } else {
    sum_parts(parts_, out, n);
    where_positive(y, n, out, [out](std::size_t k) { return out[k]; });
  }
}

PrimitiveLayer::PrimitiveLayer(const LayerPlace& place, double flops_of_an_element)
    : SingleInputLayer(place) {
  const auto rows = static_cast<std::uint32_t>(x_.get_desc().data.dims[0]);
  const double flops = flops_of_an_element * static_cast<double>(float_count(x_));
  slices_ = with_rows(x_.get_desc(), 1) ? RowSlices::for_work(flops, rows) : RowSlices{rows, rows};
}

std::vector<Lease> SingleInputLayer::prepare_backward(const std::vector<Lease>& parts, bool) {
  incoming_ = IncomingGradient(memory_, parts, y_, false);
  Lease result = memory_.lend(x_.get_desc());
  dx_ = result.tensor;
  make_backward();
  incoming_.drop();
  return {std::move(result)};
}

LayerPointer make_host_activation(const LayerPlace& place) {
  if (place.node.op == Op::relu) return std::make_unique<Relu>(place);
  return std::make_unique<Gelu>(place);
}

LayerPointer make_host_embedding(const LayerPlace& place, std::span<const std::uint8_t> tokens) {
  return std::make_unique<Embedding>(place, tokens);
}

LayerPointer make_host_layer_norm(const LayerPlace& place) {
  return std::make_unique<LayerNorm>(place);
}

LayerPointer make_host_max_pool(const LayerPlace& place) {
  return std::make_unique<MaxPool>(place);
}

LayerPointer make_host_average_pool(const LayerPlace& place) {
  return std::make_unique<AveragePool>(place);
}

}  // namespace gv
