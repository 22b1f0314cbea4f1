#include <algorithm>
#include <string_view>

#include "optim/host/host_layer.h"

// oneDNN chooses the layouts of pictures and weights; each pass converts weights from the flat
// vector to that layout, and gradients back. Rows are independent, so they are convolved in slices.

namespace gv {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using Layout = dnnl::memory::desc;
constexpr auto any = dnnl::memory::format_tag::any;
constexpr auto best = dnnl::algorithm::convolution_auto;

/// Returns the algorithm that the library chooses for a whole batch; for a slice it might choose
/// another.
dnnl::algorithm algorithm_of(const dnnl::primitive_desc_base& whole) {
  const bool winograd =
      std::string_view(whole.impl_info_str()).find("wino") != std::string_view::npos;
  return winograd ? dnnl::algorithm::convolution_winograd : dnnl::algorithm::convolution_direct;
}

/// Zeros that the last windows need; with fewer, the outermost pixels would be skipped.
std::int64_t end_padding(std::uint32_t in, std::uint32_t out, const Node& node) {
  return std::max<std::int64_t>(
      0, (std::int64_t{out} - 1) * node.stride + node.kernel - std::int64_t{in} - node.padding);
}

class Convolution : public HostLayer {
 public:
  explicit Convolution(const LayerPlace& place)
      : memory_(place.memory),
        rows_(place.rows),
        in_(place.in()),
        node_(place.node),
        weight_(place.tensor(0)),
        relu_(place.relu),
        strides_{node_.stride, node_.stride},
        begin_{node_.padding, node_.padding},
        end_{end_padding(in_.height, node_.out.height, node_),
             end_padding(in_.width, node_.out.width, node_)},
        any_weight_(weight_layout(any)),
        x_(place.inputs[0].tensor) {
    if (node_.parameters.size() > 1) bias_ = place.tensor(1);
    flat_weight_ = memory_.floating(weight_layout(dnnl::memory::format_tag::oihw));
    bias_layout_ = bias_layout();
    flat_bias_ = memory_.floating(bias_layout_);
    prepare_forward();
    if (!place.training) input_.drop();
  }

  void forward(std::span<const float> x, Moments) override {
    point_at(flat_weight_, x.data() + weight_.offset);
    if (bias_) point_at(flat_bias_, x.data() + bias_->offset);
    input_.run();
    weight_in_.run();
    run_slices(run_forward_.size(), [this](std::size_t i) { run_forward_[i].run(); });
  }

  std::vector<Lease> prepare_backward(const std::vector<Lease>& parts, bool wanted) override {
    incoming_ = IncomingGradient(memory_, parts, y_, relu_);
    prepare_weights();
    std::vector<Lease> results;
    if (wanted) results.push_back(prepare_data());
    incoming_.drop();
    weights_incoming_.drop();
    data_incoming_.drop();
    data_out_.drop();
    return results;
  }

  /// The gradient by the weights is one sum over all rows, separate from the gradient by the input.
  void backward(std::span<const float> x, std::span<float> g) override {
    incoming_.gather();
    point_at(flat_gradient_, g.data() + weight_.offset);
    if (bias_) point_at(flat_bias_gradient_, g.data() + bias_->offset);
    point_at(flat_weight_, x.data() + weight_.offset);
    for (Conversion* conversion :
         {&weights_input_, &weights_incoming_, &data_weight_, &data_incoming_})
      conversion->run();
    run_slices(1 + run_data_.size(),
               [this](std::size_t i) { (i == 0 ? run_weights_ : run_data_[i - 1]).run(); });
    weight_out_.run();
    data_out_.run();
  }

 private:
  Layout weight_layout(dnnl::memory::format_tag format) const {
    return {{node_.out.channels, in_.channels, node_.kernel, node_.kernel},
            dnnl::memory::data_type::f32,
            format};
  }
  Layout bias_layout() const {
    if (!bias_) return {};
    return {{node_.out.channels}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a};
  }
  Layout any_in(std::uint32_t rows) const { return picture_of(rows, in_, any); }
  Layout any_out(std::uint32_t rows) const { return picture_of(rows, node_.out, any); }

  /// Cuts the forward pass and the backward pass to the input into slices, in these layouts. A flop
  /// takes about twice as long as in a matrix product. Each slice repeats Winograd's transform of
  /// the weights.
  RowSlices slices(dnnl::algorithm algorithm, const Layout& in, const Layout& out) const {
    if (!with_rows(in, 1) || !with_rows(out, 1)) return {rows_, rows_};
    const double multiplies =
        static_cast<double>(weight_.count) * node_.out.height * node_.out.width * rows_;
    const bool winograd = algorithm == dnnl::algorithm::convolution_winograd;
    return RowSlices::for_work(4 * multiplies, rows_, winograd ? 4 : most_slices);
  }

  convolution_forward::primitive_desc describe_forward(dnnl::algorithm algorithm,
                                                       const Layout& in,
                                                       const Layout& weight,
                                                       const Layout& out) {
    dnnl::primitive_attr attributes = Primitive::attributes();
    if (relu_) {
      dnnl::post_ops after;
      after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      attributes.set_post_ops(after);
    }
    return {{dnnl::prop_kind::forward_training, algorithm, in, weight, bias_layout_, out, strides_,
             begin_, end_},
            attributes,
            memory_.engine()};
  }

  void prepare_forward() {
    forward_ = describe_forward(best, any_in(rows_), any_weight_, any_out(rows_));
    if (!picture_layout(forward_.dst_desc()))
      forward_ = describe_forward(best, any_in(rows_), any_weight_, picture_of(rows_, node_.out));
    const Layout in = forward_.src_desc();
    const Layout out = forward_.dst_desc();
    input_ = Conversion::of(memory_, x_, in);
    weight_in_ = Conversion::of(memory_, flat_weight_, forward_.weights_desc());
    set_output(memory_.lend(out));
    const dnnl::algorithm algorithm = algorithm_of(forward_);
    slices(algorithm, in, out).each([&](std::uint32_t row, std::uint32_t count) {
      const auto description =
          count == rows_ ? forward_
                         : describe_forward(algorithm, *with_rows(in, count),
                                            forward_.weights_desc(), *with_rows(out, count));
      Arguments arguments{{DNNL_ARG_SRC, rows_of(input_.tensor(), row, count)},
                          {DNNL_ARG_WEIGHTS, weight_in_.tensor()},
                          {DNNL_ARG_DST, rows_of(y_, row, count)}};
      if (bias_) arguments[DNNL_ARG_BIAS] = flat_bias_;
      run_forward_.emplace_back(memory_, description, convolution_forward(description),
                                std::move(arguments), run_forward_.size());
    });
  }

  /// Reuses the forward pass' conversion to the layout `wanted`, or else converts `from`.
  Conversion again_or_of(const Conversion& forward,
                         const dnnl::memory& from,
                         const Layout& wanted) const {
    if (forward.tensor().get_desc() == wanted) return forward.again();
    return Conversion::of(memory_, from, wanted);
  }

  void prepare_weights() {
    const convolution_backward_weights::primitive_desc description(
        {best, any_in(rows_), any_weight_, bias_layout_, any_out(rows_), strides_, begin_, end_},
        Primitive::attributes(), memory_.engine(), forward_);
    weights_input_ = again_or_of(input_, x_, description.src_desc());
    weights_incoming_ = Conversion::of(memory_, incoming_.tensor(), description.diff_dst_desc());
    flat_gradient_ = memory_.floating(weight_layout(dnnl::memory::format_tag::oihw));
    flat_bias_gradient_ = memory_.floating(bias_layout_);
    weight_out_ = Conversion::into(memory_, description.diff_weights_desc(), flat_gradient_);
    Arguments arguments{{DNNL_ARG_SRC, weights_input_.tensor()},
                        {DNNL_ARG_DIFF_DST, weights_incoming_.tensor()},
                        {DNNL_ARG_DIFF_WEIGHTS, weight_out_.tensor()}};
    if (bias_) arguments[DNNL_ARG_DIFF_BIAS] = flat_bias_gradient_;
    run_weights_ = {memory_, description, convolution_backward_weights(description),
                    std::move(arguments), most_slices};
  }

  convolution_backward_data::primitive_desc describe_data(
      dnnl::algorithm algorithm,
      const Layout& in,
      const Layout& weight,
      const Layout& out,
      const convolution_forward::primitive_desc& forward) {
    return {{algorithm, in, weight, out, strides_, begin_, end_},
            Primitive::attributes(),
            memory_.engine(),
            forward};
  }

  Lease prepare_data() {
    const auto whole = describe_data(best, any_in(rows_), any_weight_, any_out(rows_), forward_);
    const Layout in = whole.diff_src_desc();
    const Layout out = whole.diff_dst_desc();
    data_weight_ = again_or_of(weight_in_, flat_weight_, whole.weights_desc());
    data_incoming_ = Conversion::of(memory_, incoming_.tensor(), out);
    Lease result = memory_.lend(x_.get_desc());
    data_out_ = Conversion::into(memory_, in, result.tensor);
    const dnnl::algorithm algorithm = algorithm_of(whole);
    slices(algorithm, in, out).each([&](std::uint32_t row, std::uint32_t count) {
      const auto description =
          count == rows_
              ? whole
              : describe_data(
                    algorithm, *with_rows(in, count), whole.weights_desc(), *with_rows(out, count),
                    describe_forward(algorithm, any_in(count), any_weight_, any_out(count)));
      Arguments arguments{{DNNL_ARG_DIFF_DST, rows_of(data_incoming_.tensor(), row, count)},
                          {DNNL_ARG_WEIGHTS, data_weight_.tensor()},
                          {DNNL_ARG_DIFF_SRC, rows_of(data_out_.tensor(), row, count)}};
      run_data_.emplace_back(memory_, description, convolution_backward_data(description),
                             std::move(arguments), run_data_.size());
    });
    return result;
  }

  HostMemory& memory_;
  std::uint32_t rows_;
  Shape in_;
  Node node_;
  Tensor weight_;
  std::optional<Tensor> bias_;
  bool relu_;
  dnnl::memory::dims strides_, begin_, end_;
  Layout any_weight_, bias_layout_;
  dnnl::memory x_;
  dnnl::memory flat_weight_, flat_bias_, flat_gradient_, flat_bias_gradient_;
  convolution_forward::primitive_desc forward_;  ///< for all rows
  Conversion input_, weight_in_;
  std::vector<Primitive> run_forward_;  ///< slice by slice
  IncomingGradient incoming_;
  Conversion weights_input_, weights_incoming_, weight_out_;
  Primitive run_weights_;
  Conversion data_weight_, data_incoming_, data_out_;
  std::vector<Primitive> run_data_;  ///< slice by slice
};

}  // namespace

LayerPointer make_host_convolution(const LayerPlace& place) {
  return std::make_unique<Convolution>(place);
}

}  // namespace gv
