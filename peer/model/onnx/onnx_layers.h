#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "onnx/onnx.pb.h"
#include "optim/models/network_builder.h"
#include "optim/train/predictor.h"

namespace gv {

/// An ONNX graph under construction: https://github.com/onnx/onnx/blob/main/docs/IR.md. Every call
/// returns the name of its new value.
class OnnxGraph {
 public:
  using Integers = std::vector<std::int64_t>;
  using Attribute = std::pair<std::string, std::variant<std::int64_t, float, Integers>>;

  explicit OnnxGraph(const std::string& name) { graph_.set_name(name); }

  /// Appends an operation with one output; `inputs` are earlier values.
  std::string apply(const std::string& op,
                    const std::vector<std::string>& inputs,
                    const std::vector<Attribute>& attributes = {});

  /// Constants, row-major. A tensor of `shape` has as many elements as there are values; an empty
  /// `shape` is a scalar.
  std::string floats(const std::string& name, const Integers& shape, std::span<const float> values);
  std::string doubles(const std::string& name, const std::vector<double>& values);
  std::string integers(const std::string& name, const Integers& values);
  /// A scalar constant.
  std::string number(const std::string& name, float value) { return floats(name, {}, {&value, 1}); }

  /// The shape of one row of an input or output; a call has any number `rows` of rows.
  struct Value {
    std::string name;
    onnx::TensorProto::DataType type = onnx::TensorProto::FLOAT;
    Integers row;
    std::string about;
  };
  std::string input(const Value& value);
  /// Renames the value of the last operation.
  void output(const Value& value);

  onnx::GraphProto take() { return std::move(graph_); }

 private:
  template <class Number>
  std::string constant(const std::string& name,
                       onnx::TensorProto::DataType type,
                       const Integers& shape,
                       std::span<const Number> values);

  onnx::GraphProto graph_;
};

/// Appends a network's layers for inference (a batch norm by its running moments) to `input`:
/// pictures [rows, channels, height, width], vectors [rows, channels] or, for a network with a
/// vocabulary, tokens [rows, positions]. Returns the logits, [rows, classes] or [rows, positions,
/// classes]. Parameters keep their names.
std::string add_layers(OnnxGraph& graph,
                       const std::string& input,
                       const NeuralNetwork& network,
                       std::span<const float> x,
                       const std::vector<RunningMoment>& moments);

}  // namespace gv
