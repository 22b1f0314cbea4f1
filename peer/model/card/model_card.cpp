#include "peer/model/card/model_card.h"

#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "peer/fleet/json/json.h"

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

/// Lists a model's operations (optim/models/network_builder.h), one object each: {"op": "linear",
/// "inputs": [0], "parameters": ["fc1.weight", "fc1.bias"], "out": [256]}. Inputs are places in the
/// list, whose first entry is the sample; unneeded keys are left out. The last operation gives the
/// logits, the value of a regression, or the margin of a logistic regression.
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

constexpr const char* days_unit = "days since 1970-01-01";
constexpr std::size_t most_column_bytes = 8U << 20;  ///< leaves room for a second escape

Json model_json(const ModelSpec& spec) {
  Json json{{"kind", spec.kind}};
  if (spec.kind == program_model) return json;
  for (const ModelKey& key : find_model(spec.kind).keys) {
    const auto given = spec.values.find(key.name);
    const ModelValue& value = given == spec.values.end() ? key.usual : given->second;
    std::visit([&](const auto& plain) { json[key.name] = Json(plain); }, value);
  }
  return json;
}

std::vector<double> doubles(const std::vector<float>& from) {
  return {from.begin(), from.end()};
}

Json sparse_json(const Dataset& like) {
  Json json{{"form", "sparse"}, {"features", like.features}};
  if (like.facts && like.facts->first_column != 1) json["first_column"] = like.facts->first_column;
  return json;
}

/// Describes the samples, and the scaling of a pixel or a character before the first layer.
Json input_json(const Dataset& like) {
  switch (form_of(like)) {
    case DataForm::pictures:
      return Json{{"form", "pictures"},
                  {"shape", std::vector{like.image.channels, like.image.height, like.image.width}},
                  {"prepared", "(byte / 255 - shift) * scale, by channel where there are several"},
                  {"shift", doubles(like.shift)},
                  {"scale", doubles(like.scale)}};
    case DataForm::text:
      return Json{{"form", "text"},
                  {"context", like.context},
                  {"prepared", "a token is the place of its byte in the vocabulary"},
                  {"vocabulary", like.vocabulary}};
    case DataForm::sparse:
      return sparse_json(like);
    case DataForm::targets:
      return Json{{"form", "targets"}, {"features", like.features}};
    default:
      return Json{{"form", "rows"}, {"features", like.features}};
  }
}

Json column_json(const ColumnFacts& column) {
  if (column.is_category())
    return Json{{"name", column.name}, {"values", column.levels}, {"shares", column.shares}};
  Json json{{"name", column.name}, {"mean", column.mean}, {"deviation", column.deviation}};
  if (column.date) json["unit"] = days_unit;
  return json;
}

std::string missing_word(MissingValue missing) {
  if (missing == MissingValue::mean) return "mean";
  return missing == MissingValue::drop ? "drop" : "refuse";
}

void add_table(const ModelCard& card,
               const DataFacts& facts,
               std::map<std::string, std::string>& to) {
  Json columns = Json::array();
  for (const ColumnFacts& column : facts.columns) columns.push_back(column_json(column));
  const std::string text = columns.dump();
  Json table{{"format", facts.format},
             {"target", facts.target},
             {"missing", missing_word(card.missing)},
             {"standardized", facts.standardized},
             {"prepared",
              "a number: (x - mean) / deviation where standardized, a deviation of 0 "
              "counting as 1; a category: one feature of 0 or 1 for each value"},
             {"columns_left_out", text.size() > most_column_bytes}};
  if (facts.decimal != '.') table["decimal"] = std::string(1, facts.decimal);
  if (!facts.header) table["header"] = false;
  if (facts.target_shift.value_or(0) != 0) table["target_shift"] = *facts.target_shift;
  to["table"] = table.dump();
  if (text.size() <= most_column_bytes) to["columns"] = text;
}

/// Hashes each part with its length, so that the borders between parts count.
class PartHash {
 public:
  PartHash() { XXH3_128bits_reset(&state_); }
  template <class Element>
  void add(std::span<const Element> part) {
    const std::uint64_t bytes = part.size_bytes();
    XXH3_128bits_update(&state_, &bytes, sizeof bytes);
    if (bytes > 0) XXH3_128bits_update(&state_, part.data(), bytes);
  }
  std::string hex() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  XXH3_state_t state_{};
};

}  // namespace

std::vector<std::string> class_names(const Dataset& like) {
  if (like.facts && !like.facts->classes.empty()) return like.facts->classes;
  std::vector<std::string> names;
  for (std::uint32_t k = 0; k < like.classes; ++k) names.push_back(std::to_string(k));
  return names;
}

std::map<std::string, std::string> card_metadata(const ModelCard& card) {
  std::map<std::string, std::string> to{
      {"schema", "grapevine.model/1"},     {"fleet", card.fleet},
      {"version", card.version},           {"digest", card.digest},
      {"seed", std::to_string(card.seed)}, {"rounds", std::to_string(card.rounds)}};
  if (card.peer) to["peer"] = std::to_string(*card.peer);
  to["model"] = model_json(card.model).dump();
  to["data"] = Json{{"kind", card.data},
                    {"train", card.train_samples},
                    {"test", card.test_samples},
                    {"train_digest", card.train_digest},
                    {"test_digest", card.test_digest}}
                   .dump();
  if (!card.like) return to;
  to["layers"] = layer_list(card.model, *card.like).dump();
  to["input"] = input_json(*card.like).dump();
  if (card.like->classes > 0 && !card.like->is_text())
    to["classes"] = Json(class_names(*card.like)).dump();
  if (card.like->facts && !card.like->facts->columns.empty())
    add_table(card, *card.like->facts, to);
  return to;
}

std::string data_digest(const Dataset* data) {
  if (data == nullptr) return "";
  PartHash hash;
  const std::uint32_t shape[] = {data->rows, data->features, data->classes, data->context};
  hash.add(std::span<const std::uint32_t>(shape));
  hash.add(std::span<const std::uint8_t>(data->bytes.data(), data->bytes.size()));
  hash.add(std::span(data->floats));
  hash.add(std::span<const float>(data->shift));
  hash.add(std::span<const float>(data->scale));
  hash.add(std::span(data->labels));
  hash.add(std::span(data->targets));
  hash.add(std::span(data->sparse.ends));
  hash.add(std::span(data->sparse.columns));
  hash.add(std::span(data->sparse.values));
  hash.add(std::span(data->tokens));
  hash.add(std::span(data->vocabulary));
  return hash.hex();
}

}  // namespace gv
