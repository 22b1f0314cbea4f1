#include "peer/model/onnx/onnx_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/fleet/json/json.h"
#include "peer/model/onnx/onnx_layers.h"

namespace gv {
namespace {

using Integers = OnnxGraph::Integers;

/// Protocol buffers are limited to 2 GiB; the remainder is for everything except weights.
constexpr std::size_t most_weights = 500'000'000;

Integers extents(std::size_t count) {
  return {static_cast<std::int64_t>(count)};
}

std::string told(const OnnxGraph::Value& value) {
  const char* const type = value.type == onnx::TensorProto::UINT8    ? "uint8"
                           : value.type == onnx::TensorProto::INT64  ? "int64"
                           : value.type == onnx::TensorProto::DOUBLE ? "double"
                                                                     : "float";
  return fmt::format("{}: {} [rows, {}]", value.name, type, fmt::join(value.row, ", "));
}

/// The names of a table's features, in the order of its one input.
std::vector<std::string> feature_names(const DataFacts& facts) {
  std::vector<std::string> names;
  for (const ColumnFacts& column : facts.columns) {
    if (!column.is_category()) names.push_back(column.name);
    for (const std::string& level : column.levels) names.push_back(column.name + "=" + level);
  }
  return names;
}

/// Returns whether floats are too coarse for some column of the table, such as seconds since 1970.
bool needs_doubles(const DataFacts& facts) {
  constexpr double far = 1000;
  return facts.standardized && std::ranges::any_of(facts.columns, [](const ColumnFacts& column) {
           return !column.is_category() && std::abs(column.mean) > far * column.deviation;
         });
}

class ModelWriter {
 public:
  ModelWriter(const SavedModel& model, OnnxAbout& about)
      : model_(model), like_(*model.card.like), about_(about), graph_("grapevine") {}

  std::string write() {
    answer(input());
    onnx::ModelProto file;
    file.set_ir_version(onnx_ir_version);
    file.set_producer_name("grapevine");
    file.set_producer_version(model_.card.version);
    file.set_model_version(static_cast<std::int64_t>(model_.card.rounds));
    onnx::OperatorSetIdProto& opset = *file.add_opset_import();
    opset.set_domain("");
    opset.set_version(onnx_opset);
    *file.mutable_graph() = graph_.take();
    add_metadata(file);
    return file.SerializeAsString();
  }

 private:
  std::string ask(const OnnxGraph::Value& value) {
    about_.input = told(value);
    return graph_.input(value);
  }
  void tell(const OnnxGraph::Value& value) {
    about_.output = told(value);
    graph_.output(value);
  }

  /// Adds the input of the first layer and returns its name.
  std::string input() {
    if (like_.is_text())
      return ask({.name = "tokens",
                  .type = onnx::TensorProto::INT64,
                  .row = extents(like_.context),
                  .about = "places of the characters in the vocabulary"});
    if (form_of(like_) == DataForm::pictures) return pictures();
    const bool table = like_.facts && !like_.facts->columns.empty();
    const bool doubles = table && needs_doubles(*like_.facts);
    const std::string x =
        ask({.name = "features",
             .type = doubles ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT,
             .row = extents(like_.features),
             .about = table ? "as in the table, in the order of `features` in the metadata; a "
                              "category is 1 at its value and 0 at the others"
                            : "as in the data"});
    return table ? scaled(x, *like_.facts) : x;
  }

  /// (byte / 255 - shift) * scale.
  std::string pictures() {
    const ImageShape& image = like_.image;
    const std::string bytes = ask({.name = "pixels",
                                   .type = onnx::TensorProto::UINT8,
                                   .row = {image.channels, image.height, image.width},
                                   .about = "bytes, channel by channel, row by row"});
    const std::string x = graph_.apply("Cast", {bytes}, {to(onnx::TensorProto::FLOAT)});
    const std::string unit = graph_.apply("Div", {x, graph_.number("white", 255)});
    const Integers by_channel{static_cast<std::int64_t>(like_.shift.size()), 1, 1};
    const std::string shift = graph_.floats("shift", by_channel, like_.shift);
    const std::string scale = graph_.floats("scale", by_channel, like_.scale);
    return graph_.apply("Mul", {graph_.apply("Sub", {unit, shift}), scale});
  }

  /// Scales as in training, in float64: a year less the mean year has few digits left.
  std::string scaled(std::string x, const DataFacts& facts) {
    const bool fills = model_.card.missing == MissingValue::mean;
    if (!fills && !facts.standardized) return x;
    std::vector<double> fill, mean, deviation;
    for (const ColumnFacts& column : facts.columns) {
      const bool scales = facts.standardized && !column.is_category();
      const std::size_t width = column.is_category() ? column.levels.size() : 1;
      for (std::size_t k = 0; k < width; ++k) {
        fill.push_back(column.is_category() ? column.shares[k] : column.mean);
        mean.push_back(scales ? column.mean : 0);
        deviation.push_back(scales && column.deviation > 0 ? column.deviation : 1);
      }
    }
    const std::string missing = fills ? graph_.apply("IsNaN", {x}) : "";
    x = graph_.apply("Cast", {x}, {to(onnx::TensorProto::DOUBLE)});
    if (fills) x = graph_.apply("Where", {missing, graph_.doubles("missing", fill), x});
    if (facts.standardized) {
      x = graph_.apply("Sub", {x, graph_.doubles("mean", mean)});
      x = graph_.apply("Div", {x, graph_.doubles("deviation", deviation)});
    }
    return graph_.apply("Cast", {x}, {to(onnx::TensorProto::FLOAT)});
  }

  static OnnxGraph::Attribute to(onnx::TensorProto::DataType type) {
    return {"to", static_cast<std::int64_t>(type)};
  }

  /// One weight for each feature and an optional bias, the last value of x.
  std::string weighted_sum(const std::string& x) {
    const std::span<const float> all(model_.x);
    std::vector<std::string> inputs{
        x, graph_.floats("fc.weight", {1, like_.features}, all.first(like_.features))};
    if (all.size() > like_.features) inputs.push_back(graph_.floats("fc.bias", {1}, all.last(1)));
    return graph_.apply("Gemm", inputs, {{"transB", std::int64_t{1}}});
  }

  void answer(const std::string& x) {
    const std::string about = "of each class, in the order of `classes` in the metadata";
    if (find_model(model_.card.model.kind).network == nullptr) {
      const std::string sum = weighted_sum(x);
      if (like_.classes == 0) {
        const double shift = like_.facts ? like_.facts->target_shift.value_or(0) : 0;
        if (shift != 0)
          graph_.apply("Add", {graph_.apply("Cast", {sum}, {to(onnx::TensorProto::DOUBLE)}),
                               graph_.doubles("target_shift", {shift})});
        tell({.name = "value",
              .type = shift != 0 ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT,
              .row = {1},
              .about = "of the regression"});
        return;
      }
      const std::string other = graph_.apply("Sigmoid", {graph_.apply("Neg", {sum})});
      graph_.apply("Concat", {other, graph_.apply("Sigmoid", {sum})}, {{"axis", std::int64_t{1}}});
      tell({.name = "probabilities", .row = {2}, .about = about});
      return;
    }
    const NeuralNetwork network = make_network(model_.card.model, like_);
    const std::string logits = add_layers(graph_, x, network, model_.x, model_.moments);
    graph_.apply("Softmax", {logits}, {{"axis", std::int64_t{-1}}});
    Integers row = extents(network.classes);
    if (like_.is_text()) row.insert(row.begin(), like_.context);
    tell({.name = "probabilities",
          .row = row,
          .about = like_.is_text() ? "of the character that follows each" : about});
  }

  void add_metadata(onnx::ModelProto& file) const {
    std::map<std::string, std::string> texts = card_metadata(model_.card);
    texts.erase("layers");  // the graph has them
    if (like_.facts && !like_.facts->columns.empty())
      texts["features"] = Json(feature_names(*like_.facts)).dump();
    for (const auto& [key, value] : texts) {
      onnx::StringStringEntryProto& entry = *file.add_metadata_props();
      entry.set_key(key);
      entry.set_value(value);
    }
  }

  const SavedModel& model_;
  const Dataset& like_;
  OnnxAbout& about_;
  OnnxGraph graph_;
};

}  // namespace

std::string onnx_model(const SavedModel& model, OnnxAbout& about) {
  if (model.x.size() > most_weights)
    throw std::runtime_error(
        fmt::format("{}: {} parameters; a file of ONNX holds at most {} of them: take the "
                    "safetensors file itself",
                    model.path, model.x.size(), most_weights));
  const std::shared_ptr<const DataFacts>& facts = model.card.like->facts;
  if (model.card.data == "table" && (!facts || facts->columns.empty()))
    throw std::runtime_error(model.path +
                             ": its columns were too many to be kept in it, so nothing says how "
                             "they are scaled; scale them yourself and read the safetensors file");
  return ModelWriter(model, about).write();
}

}  // namespace gv
