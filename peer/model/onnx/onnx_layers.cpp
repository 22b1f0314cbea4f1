#include "peer/model/onnx/onnx_layers.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

// Operations are named and defined as in https://onnx.ai/onnx/operators.

namespace gv {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian, as it lies");

void describe(const OnnxGraph::Value& value, onnx::ValueInfoProto& to) {
  to.set_name(value.name);
  to.set_doc_string(value.about);
  onnx::TypeProto::Tensor& tensor = *to.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(value.type);
  tensor.mutable_shape()->add_dim()->set_dim_param("rows");
  for (const std::int64_t extent : value.row)
    tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

void set(onnx::AttributeProto& attribute, std::int64_t value) {
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}
void set(onnx::AttributeProto& attribute, float value) {
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(value);
}
void set(onnx::AttributeProto& attribute, const OnnxGraph::Integers& values) {
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

using Integers = OnnxGraph::Integers;

class LayerWriter {
 public:
  LayerWriter(OnnxGraph& graph,
              const NeuralNetwork& network,
              std::span<const float> x,
              const std::vector<RunningMoment>& moments)
      : graph_(graph), network_(network), x_(x), moments_(moments) {}

  std::string write(const std::string& input) {
    values_.push_back(input);
    for (std::size_t k = 1; k < network_.nodes.size(); ++k)
      values_.push_back(layer(network_.nodes[k]));
    return values_.back();
  }

 private:
  std::string layer(const Node& node) {
    const std::string& x = values_[node.inputs[0]];
    switch (node.op) {
      case Op::convolution:
        return convolution(node, x);
      case Op::linear:
        return linear(node, x);
      case Op::relu:
        return graph_.apply("Relu", {x});
      case Op::gelu:
        return gelu(x);
      case Op::max_pool:
        return graph_.apply("MaxPool", {x},
                            {{"kernel_shape", both(node.kernel)}, {"strides", both(node.stride)}});
      case Op::average_pool:
        return graph_.apply("GlobalAveragePool", {x});
      case Op::batch_norm:
        return batch_norm(node, x);
      case Op::group_norm:
        return group_norm(node, x);
      case Op::layer_norm:
        return graph_.apply("LayerNormalization", {x, parameter(node, 0), parameter(node, 1)},
                            {{"epsilon", node.epsilon}});
      case Op::add:
        return graph_.apply("Add", {x, values_[node.inputs[1]]});
      case Op::shortcut:
        return shortcut(node, x);
      case Op::embedding:
        return graph_.apply("Add",
                            {graph_.apply("Gather", {parameter(node, 0), x}), parameter(node, 1)});
      case Op::attention:
        return attention(node, x);
      case Op::input:
        break;
    }
    throw std::logic_error("an operation that ONNX has no word for");
  }

  /// Returns whether node k is a linear layer, or only ReLUs separate it from one.
  bool is_flat(std::uint32_t k) const {
    const Node& node = network_.nodes[k];
    return node.op == Op::linear || (node.op == Op::relu && is_flat(node.inputs[0]));
  }
  /// Returns the value for both directions of a square window.
  static Integers both(std::uint32_t value) { return {value, value}; }

  std::string parameter(const Node& node, std::size_t k, const Integers& shape = {}) {
    const Tensor& tensor = network_.tensors[node.parameters[k]];
    const auto& own = tensor.parameter.shape;
    return graph_.floats(tensor.parameter.name,
                         shape.empty() ? Integers(own.begin(), own.end()) : shape,
                         x_.subspan(tensor.offset, tensor.count));
  }
  std::string integers(const Integers& values) {
    return graph_.integers("constant_" + std::to_string(constants_++), values);
  }
  std::string number(float value) {
    return graph_.number("constant_" + std::to_string(constants_++), value);
  }

  std::string convolution(const Node& node, const std::string& x) {
    std::vector<std::string> inputs{x, parameter(node, 0)};
    if (node.parameters.size() > 1) inputs.push_back(parameter(node, 1));
    const std::int64_t pad = node.padding;
    return graph_.apply("Conv", inputs,
                        {{"kernel_shape", both(node.kernel)},
                         {"strides", both(node.stride)},
                         {"pads", Integers{pad, pad, pad, pad}}});
  }

  /// Applies the layer at each position of a sequence, or to the flattened picture.
  std::string linear(const Node& node, const std::string& x) {
    const bool bias = node.parameters.size() > 1;
    if (network_.vocabulary == 0) {
      const std::string flat = is_flat(node.inputs[0]) ? x : graph_.apply("Flatten", {x});
      std::vector<std::string> inputs{flat, parameter(node, 0)};
      if (bias) inputs.push_back(parameter(node, 1));
      return graph_.apply("Gemm", inputs, {{"transB", std::int64_t{1}}});
    }
    const std::string weight =
        graph_.apply("Transpose", {parameter(node, 0)}, {{"perm", Integers{1, 0}}});
    const std::string y = graph_.apply("MatMul", {x, weight});
    return bias ? graph_.apply("Add", {y, parameter(node, 1)}) : y;
  }

  /// arXiv:1606.08415, section 2, in the form of Op::gelu.
  std::string gelu(const std::string& x) {
    const auto times = [&](const std::string& a, float b) {
      return graph_.apply("Mul", {a, number(b)});
    };
    const std::string cube = graph_.apply("Mul", {graph_.apply("Mul", {x, x}), x});
    const std::string inner = graph_.apply("Add", {x, times(cube, 0.044715F)});
    const float root = std::sqrt(2 * std::numbers::inv_pi_v<float>);
    const std::string bend = graph_.apply("Tanh", {times(inner, root)});
    return graph_.apply("Mul", {times(x, 0.5F), graph_.apply("Add", {bend, number(1)})});
  }

  std::string batch_norm(const Node& node, const std::string& x) {
    std::vector<std::string> inputs{x, parameter(node, 0), parameter(node, 1)};
    for (int half = 0; half < 2; ++half) {
      const RunningMoment& moment = moments_.at(next_moment_++);
      inputs.push_back(graph_.floats(moment.name, {static_cast<std::int64_t>(moment.values.size())},
                                     moment.values));
    }
    return graph_.apply("BatchNormalization", inputs, {{"epsilon", node.epsilon}});
  }

  /// Concatenates the channels of a group into one channel, which is normed by itself.
  std::string group_norm(const Node& node, const std::string& x) {
    const std::int64_t groups = node.groups;
    const std::vector<float> ones(node.groups, 1.0F), zeros(node.groups, 0.0F);
    const std::string name = "constant_" + std::to_string(constants_++);
    const std::string one = graph_.floats(name + "_ones", {groups}, ones);
    const std::string zero = graph_.floats(name + "_zeros", {groups}, zeros);
    const std::string laid = graph_.apply("Reshape", {x, integers({0, groups, -1})});
    const std::string normed =
        graph_.apply("InstanceNormalization", {laid, one, zero}, {{"epsilon", node.epsilon}});
    const Shape& out = node.out;
    const std::string back =
        graph_.apply("Reshape", {normed, integers({0, out.channels, out.height, out.width})});
    const Integers by_channel{out.channels, 1, 1};
    return graph_.apply("Add", {graph_.apply("Mul", {back, parameter(node, 0, by_channel)}),
                                parameter(node, 1, by_channel)});
  }

  std::string shortcut(const Node& node, const std::string& x) {
    constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max();
    const std::string seen = graph_.apply("Slice", {x, integers({0, 0}), integers({end, end}),
                                                    integers({2, 3}), integers(both(node.stride))});
    const std::int64_t more = node.out.channels - network_.nodes[node.inputs[0]].out.channels;
    const std::int64_t before = more / 2;
    return graph_.apply("Pad", {seen, integers({0, before, 0, 0, 0, more - before, 0, 0})});
  }

  /// arXiv:1706.03762, equation 1: x is [rows, positions, queries | keys | values].
  std::string attention(const Node& node, const std::string& x) {
    const std::int64_t t = node.out.positions, heads = node.heads;
    const std::int64_t depth = node.out.channels / node.heads;
    const std::string split =
        graph_.apply("Transpose", {graph_.apply("Reshape", {x, integers({0, t, 3, heads, depth})})},
                     {{"perm", Integers{2, 0, 3, 1, 4}}});
    const auto part = [&](std::int64_t k) {
      const std::string one = graph_.apply("Slice", {split, integers({k}), integers({k + 1})});
      return graph_.apply("Squeeze", {one, integers({0})});
    };
    const std::string q = part(0), k = part(1), v = part(2);
    const std::string scores = graph_.apply(
        "MatMul", {q, graph_.apply("Transpose", {k}, {{"perm", Integers{0, 1, 3, 2}}})});
    const std::string scaled =
        graph_.apply("Mul", {scores, number(1 / std::sqrt(static_cast<float>(depth)))});
    const std::string weights = graph_.apply("Softmax", {graph_.apply("Add", {scaled, mask(t)})},
                                             {{"axis", std::int64_t{-1}}});
    const std::string seen = graph_.apply("Transpose", {graph_.apply("MatMul", {weights, v})},
                                          {{"perm", Integers{0, 2, 1, 3}}});
    return graph_.apply("Reshape", {seen, integers({0, t, heads * depth})});
  }

  /// [t, t], with -1e30 for each later position, whose weight then becomes 0.
  std::string mask(std::int64_t t) {
    const std::string all = graph_.apply("Expand", {number(-1e30F), integers({t, t})});
    const std::string above = graph_.apply("Squeeze", {integers({1})});
    return graph_.apply("Trilu", {all, above}, {{"upper", std::int64_t{1}}});
  }

  OnnxGraph& graph_;
  const NeuralNetwork& network_;
  std::span<const float> x_;
  const std::vector<RunningMoment>& moments_;
  std::vector<std::string> values_;  ///< by node of the network
  std::size_t constants_ = 0;
  std::size_t next_moment_ = 0;
};

}  // namespace

std::string OnnxGraph::apply(const std::string& op,
                             const std::vector<std::string>& inputs,
                             const std::vector<Attribute>& attributes) {
  const std::string name = op + "_" + std::to_string(graph_.node_size());
  onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(name);
  for (const auto& [key, value] : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(key);
    std::visit([&](const auto& plain) { set(attribute, plain); }, value);
  }
  return name;
}

template <class Number>
std::string OnnxGraph::constant(const std::string& name,
                                onnx::TensorProto::DataType type,
                                const Integers& shape,
                                std::span<const Number> values) {
  onnx::TensorProto& tensor = *graph_.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t extent : shape) tensor.add_dims(extent);
  tensor.set_raw_data(values.data(), values.size_bytes());
  return name;
}

std::string OnnxGraph::floats(const std::string& name,
                              const Integers& shape,
                              std::span<const float> values) {
  return constant(name, onnx::TensorProto::FLOAT, shape, values);
}

std::string OnnxGraph::doubles(const std::string& name, const std::vector<double>& values) {
  return constant(name, onnx::TensorProto::DOUBLE, {static_cast<std::int64_t>(values.size())},
                  std::span<const double>(values));
}

std::string OnnxGraph::integers(const std::string& name, const Integers& values) {
  return constant(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())},
                  std::span<const std::int64_t>(values));
}

std::string OnnxGraph::input(const Value& value) {
  describe(value, *graph_.add_input());
  return value.name;
}

void OnnxGraph::output(const Value& value) {
  graph_.mutable_node(graph_.node_size() - 1)->set_output(0, value.name);
  describe(value, *graph_.add_output());
}

std::string add_layers(OnnxGraph& graph,
                       const std::string& input,
                       const NeuralNetwork& network,
                       std::span<const float> x,
                       const std::vector<RunningMoment>& moments) {
  return LayerWriter(graph, network, x, moments).write(input);
}

}  // namespace gv
