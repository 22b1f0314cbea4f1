#include "peer/model/card/layer_list.h"

#include <stdexcept>
#include <string_view>

namespace gv {
namespace {

std::string_view word_of(Op op) {
  switch (op) {
    case Op::input:
      return "input";
    case Op::convolution:
      return "convolution";
    case Op::linear:
      return "linear";
    case Op::relu:
      return "relu";
    case Op::gelu:
      return "gelu";
    case Op::max_pool:
      return "max_pool";
    case Op::average_pool:
      return "average_pool";
    case Op::batch_norm:
      return "batch_norm";
    case Op::group_norm:
      return "group_norm";
    case Op::layer_norm:
      return "layer_norm";
    case Op::add:
      return "add";
    case Op::shortcut:
      return "shortcut";
    case Op::embedding:
      return "embedding";
    case Op::attention:
      return "attention";
  }
  throw std::logic_error("an operation without a name");
}

bool is_norm(Op op) {
  return op == Op::batch_norm || op == Op::group_norm || op == Op::layer_norm;
}

bool has_window(Op op) {
  return op == Op::convolution || op == Op::max_pool || op == Op::shortcut;
}

/// [channels, height, width] of a picture, [positions, channels] of a sequence, else [channels].
Json extents(const Shape& shape) {
  if (shape.height * shape.width > 1)
    return std::vector<std::uint32_t>{shape.channels, shape.height, shape.width};
  if (shape.positions > 1) return std::vector<std::uint32_t>{shape.positions, shape.channels};
  return std::vector<std::uint32_t>{shape.channels};
}

Json layer(const NeuralNetwork& network, const Node& node) {
  Json json{{"op", word_of(node.op)}};
  if (node.op != Op::input) json["inputs"] = node.inputs;
  if (!node.parameters.empty()) {
    Json names = Json::array();
    for (const std::uint32_t k : node.parameters)
      names.push_back(network.tensors[k].parameter.name);
    json["parameters"] = names;
  }
  if (has_window(node.op)) json["stride"] = node.stride;
  if (has_window(node.op) && node.op != Op::shortcut) json["kernel"] = node.kernel;
  if (node.op == Op::convolution) json["padding"] = node.padding;
  if (node.op == Op::group_norm) json["groups"] = node.groups;
  if (node.op == Op::attention) json["heads"] = node.heads;
  if (is_norm(node.op)) json["epsilon"] = static_cast<double>(node.epsilon);
  json["out"] = extents(node.out);
  return json;
}

}  // namespace

Json layer_list(const ModelSpec& spec, const Dataset& like) {
  Json layers = Json::array();
  if (find_model(spec.kind).network != nullptr) {
    const NeuralNetwork network = make_network(spec, like);
    for (const Node& node : network.nodes) layers.push_back(layer(network, node));
    return layers;
  }
  Json names = Json::array();
  names.push_back("fc.weight");
  if (form_of(like) == DataForm::targets) names.push_back("fc.bias");
  const std::vector<std::uint32_t> one{1};
  layers.push_back(Json{{"op", "input"}, {"out", std::vector{like.features}}});
  layers.push_back(
      Json{{"op", "linear"}, {"inputs", std::vector{0}}, {"parameters", names}, {"out", one}});
  return layers;
}

}  // namespace gv
