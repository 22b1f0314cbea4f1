#include "peer/model/onnx/onnx_graph.h"

#include <bit>

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
  return constant(name,
                  onnx::TensorProto::DOUBLE,
                  {static_cast<std::int64_t>(values.size())},
                  std::span<const double>(values));
}

std::string OnnxGraph::integers(const std::string& name, const Integers& values) {
  return constant(name,
                  onnx::TensorProto::INT64,
                  {static_cast<std::int64_t>(values.size())},
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

}  // namespace gv
