#include "peer/fleet/model_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/fleet/readers.h"

namespace gv {
namespace {

/// Models that fit a kind of data; the first is the usual one.
std::vector<std::string> fitting(const std::string& data) {
  if (data == "idx" || data == "digits" || data == "cifar10")
    return {"mlp", "softmax", "lenet5", "resnet20"};
  if (data == "blobs") return {"mlp", "softmax"};
  if (data == "text") return {"transformer"};
  return {data};
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += fmt::format("{}`{}`", text.empty() ? "" : " or ", word);
  return text;
}

class ModelReader : Readers {
 public:
  ModelReader(Source& source, const Value& root) : Readers(source), root_(root) {}

  ModelSpec read(const Value* value, const std::string& data) {
    const std::vector<std::string> fits = fitting(data);
    MapReader map(source_, value, "model", true);
    model_.kind = fits.front();
    const Value* kind = map.take("kind");
    set(kind,
        model_.kind,
        choice({"softmax", "linear", "mlp", "lenet5", "resnet20", "transformer", "quadratic"}));
    if (std::ranges::find(fits, model_.kind) == fits.end())
      source_.error(kind != nullptr ? *kind : root_,
                    fmt::format("model `{}` does not fit data `{}`", model_.kind, data),
                    "use " + quoted(fits));
    if (model_.kind == "mlp") read_hidden(map.take("hidden"));
    if (model_.kind == "resnet20") set(map.take("norm"), model_.norm, choice({"batch", "group"}));
    if (model_.kind == "transformer") read_transformer(map);
    map.finish();
    return model_;
  }

 private:
  void read_hidden(const Value* hidden) {
    if (hidden == nullptr) return;
    model_.hidden.clear();
    if (hidden->kind != Value::Kind::sequence || hidden->items.empty())
      source_.error(*hidden, "expected a list of widths, such as [256, 128]");
    for (const Value& width : hidden->items)
      model_.hidden.push_back(
          static_cast<std::uint32_t>(read_count(source_, width, 1, 1'000'000).value_or(1)));
  }

  void read_transformer(MapReader& map) {
    const Value* width = map.take("width");
    const Value* heads = map.take("heads");
    set(width, model_.width, count(1, 100'000));
    set(heads, model_.heads, count(1, 1000));
    set(map.take("layers"), model_.layers, count(1, 1000));
    if (model_.width % model_.heads == 0) return;
    const Value* wrong = heads != nullptr ? heads : width;
    source_.error(wrong != nullptr ? *wrong : root_,
                  fmt::format("{} heads do not divide a width of {}", model_.heads, model_.width),
                  "each head gets width / heads channels");
  }

  const Value& root_;
  ModelSpec model_;
};

}  // namespace

ModelSpec read_model(Source& source,
                     const Value& root,
                     const Value* value,
                     const std::string& data_kind) {
  return ModelReader(source, root).read(value, data_kind);
}

}  // namespace gv
