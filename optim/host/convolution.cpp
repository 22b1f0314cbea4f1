#include <algorithm>

#include "optim/host/host_layer.h"

// oneDNN chooses how pictures and weights lie; weights are brought into that layout from the flat
// vector at each pass, and their gradients back.

namespace gv {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
using Layout = dnnl::memory::desc;
constexpr auto any = dnnl::memory::format_tag::any;
constexpr auto best = dnnl::algorithm::convolution_auto;

/// Zeros that the last windows need; with less, the outermost pixels would be left over.
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
        any_in_(picture_of(rows_, in_, any)),
        any_out_(picture_of(rows_, node_.out, any)),
        any_weight_(weight_layout(any)),
        x_(place.inputs[0].tensor) {
    if (node_.parameters.size() > 1) bias_ = place.tensor(1);
    flat_weight_ = memory_.floating(weight_layout(dnnl::memory::format_tag::oihw));
    bias_layout_ = bias_layout();
    flat_bias_ = memory_.floating(bias_layout_);
    forward_ = describe_forward(any_out_);
    if (!picture_layout(forward_.dst_desc()))
      forward_ = describe_forward(picture_of(rows_, node_.out));
    input_ = Conversion::of(memory_, x_, forward_.src_desc());
    weight_in_ = Conversion::of(memory_, flat_weight_, forward_.weights_desc());
    set_output(memory_.lend(forward_.dst_desc()));
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, input_.tensor()},
                                                    {DNNL_ARG_WEIGHTS, weight_in_.tensor()},
                                                    {DNNL_ARG_DST, y_}};
    if (bias_) arguments[DNNL_ARG_BIAS] = flat_bias_;
    run_forward_ = {memory_, forward_, convolution_forward(forward_), std::move(arguments)};
    if (!place.training) input_.drop();
  }

  void forward(std::span<const float> x, Moments) override {
    point_at(flat_weight_, x.data() + weight_.offset);
    if (bias_) point_at(flat_bias_, x.data() + bias_->offset);
    input_.run();
    weight_in_.run();
    run_forward_.run();
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

  void backward(std::span<const float> x, std::span<float> g) override {
    incoming_.gather();
    point_at(flat_gradient_, g.data() + weight_.offset);
    if (bias_) point_at(flat_bias_gradient_, g.data() + bias_->offset);
    for (Conversion* conversion : {&weights_input_, &weights_incoming_}) conversion->run();
    run_weights_.run();
    weight_out_.run();
    if (!run_data_) return;
    point_at(flat_weight_, x.data() + weight_.offset);
    for (Conversion* conversion : {&data_weight_, &data_incoming_}) conversion->run();
    run_data_.run();
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

  convolution_forward::primitive_desc describe_forward(const Layout& out) {
    dnnl::primitive_attr attributes = Primitive::attributes();
    if (relu_) {
      dnnl::post_ops after;
      after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
      attributes.set_post_ops(after);
    }
    return {{dnnl::prop_kind::forward_training,
             best,
             any_in_,
             any_weight_,
             bias_layout_,
             out,
             strides_,
             begin_,
             end_},
            attributes,
            memory_.engine()};
  }

  /// What the forward pass has brought into the layout `wanted`, or else `from` brought into it.
  Conversion again_or_of(const Conversion& forward,
                         const dnnl::memory& from,
                         const Layout& wanted) const {
    if (forward.tensor().get_desc() == wanted) return forward.again();
    return Conversion::of(memory_, from, wanted);
  }

  void prepare_weights() {
    const convolution_backward_weights::primitive_desc description(
        {best, any_in_, any_weight_, bias_layout_, any_out_, strides_, begin_, end_},
        Primitive::attributes(),
        memory_.engine(),
        forward_);
    weights_input_ = again_or_of(input_, x_, description.src_desc());
    weights_incoming_ = Conversion::of(memory_, incoming_.tensor(), description.diff_dst_desc());
    flat_gradient_ = memory_.floating(weight_layout(dnnl::memory::format_tag::oihw));
    flat_bias_gradient_ = memory_.floating(bias_layout_);
    weight_out_ = Conversion::into(memory_, description.diff_weights_desc(), flat_gradient_);
    std::unordered_map<int, dnnl::memory> arguments{{DNNL_ARG_SRC, weights_input_.tensor()},
                                                    {DNNL_ARG_DIFF_DST, weights_incoming_.tensor()},
                                                    {DNNL_ARG_DIFF_WEIGHTS, weight_out_.tensor()}};
    if (bias_) arguments[DNNL_ARG_DIFF_BIAS] = flat_bias_gradient_;
    run_weights_ = {
        memory_, description, convolution_backward_weights(description), std::move(arguments)};
  }

  Lease prepare_data() {
    const convolution_backward_data::primitive_desc description(
        {best, any_in_, any_weight_, any_out_, strides_, begin_, end_},
        Primitive::attributes(),
        memory_.engine(),
        forward_);
    data_weight_ = again_or_of(weight_in_, flat_weight_, description.weights_desc());
    data_incoming_ = Conversion::of(memory_, incoming_.tensor(), description.diff_dst_desc());
    Lease result = memory_.lend(x_.get_desc());
    data_out_ = Conversion::into(memory_, description.diff_src_desc(), result.tensor);
    run_data_ = {memory_,
                 description,
                 convolution_backward_data(description),
                 {{DNNL_ARG_DIFF_DST, data_incoming_.tensor()},
                  {DNNL_ARG_WEIGHTS, data_weight_.tensor()},
                  {DNNL_ARG_DIFF_SRC, data_out_.tensor()}}};
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
  Layout any_in_, any_out_, any_weight_, bias_layout_;  ///< the first three as oneDNN likes them
  dnnl::memory x_;
  dnnl::memory flat_weight_, flat_bias_, flat_gradient_, flat_bias_gradient_;
  convolution_forward::primitive_desc forward_;
  Conversion input_, weight_in_;
  Primitive run_forward_;
  IncomingGradient incoming_;
  Conversion weights_input_, weights_incoming_, weight_out_;
  Primitive run_weights_;
  Conversion data_weight_, data_incoming_, data_out_;
  Primitive run_data_;
};

}  // namespace

LayerPointer make_host_convolution(const LayerPlace& place) {
  return std::make_unique<Convolution>(place);
}

}  // namespace gv
