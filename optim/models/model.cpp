#include "optim/models/model.h"

#include <algorithm>
#include <stdexcept>

#include "optim/check.h"

namespace gv {
namespace {

[[noreturn]] void refuse_model(const std::string& kind, const std::string& why) {
  throw std::invalid_argument("model `" + kind + "` " + why);
}

const char* name_of(DataForm form) {
  switch (form) {
    case DataForm::pictures:
      return "pictures with class labels";
    case DataForm::rows:
      return "rows with class labels";
    case DataForm::text:
      return "a text";
    case DataForm::sparse:
      return "sparse rows of two classes";
    case DataForm::targets:
      return "rows with real targets";
    case DataForm::oracle:
      return "a noise oracle";
  }
  return "";
}

const ModelKey* find_key(const ModelRow& row, const std::string& name) {
  const auto key = std::ranges::find(row.keys, name, &ModelKey::name);
  return key == row.keys.end() ? nullptr : &*key;
}

const ModelValue& value_of(const ModelSpec& spec, const ModelKey& key) {
  const auto given = spec.values.find(key.name);
  return given == spec.values.end() ? key.usual : given->second;
}

template <class Type>
const Type& typed_value(const ModelSpec& spec, const std::string& name) {
  const ModelKey* const key = find_key(find_model(spec.kind), name);
  GV_CHECK(key != nullptr, "a model asks for the keys of its row only");
  const Type* const value = std::get_if<Type>(&value_of(spec, *key));
  GV_CHECK(value != nullptr, "a value has its key's type");
  return *value;
}

std::string text_of(const ModelValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* number = std::get_if<std::uint32_t>(&value)) return std::to_string(*number);
  std::string text;
  for (const std::uint32_t width : std::get<Widths>(value))
    text.append(text.empty() ? "" : ",").append(std::to_string(width));
  return text;
}

bool allowed(const ModelKey& key, const ModelValue& value) {
  if (value.index() != key.usual.index()) return false;
  if (const auto* word = std::get_if<std::string>(&value))
    return std::ranges::find(key.words, *word) != key.words.end();
  const auto in_range = [&](std::uint32_t n) { return key.least <= n && n <= key.most; };
  if (const auto* number = std::get_if<std::uint32_t>(&value)) return in_range(*number);
  const Widths& widths = std::get<Widths>(value);
  return !widths.empty() && std::ranges::all_of(widths, in_range);
}

/// Returns for each node whether its value depends on a parameter. Only the input, padded or
/// pooled, does not.
std::vector<bool> learnt(const NeuralNetwork& network) {
  std::vector<bool> depends;
  for (const Node& node : network.nodes)
    depends.push_back(
        !node.parameters.empty() ||
        std::ranges::any_of(node.inputs, [&](std::uint32_t x) { return depends[x]; }));
  return depends;
}

/// Returns the number of maps into which the rows of a node's weight are cut.
std::uint32_t maps_of(const NeuralNetwork& network, std::uint32_t number) {
  const bool attended = std::ranges::any_of(network.nodes, [&](const Node& node) {
    return node.op == Op::attention && node.inputs.front() == number;
  });
  return attended ? 3 : 1;
}

/// Returns ": batch, group"; "" for a number.
std::string allowed_words(const ModelKey& key) {
  std::string all;
  for (const std::string& word : key.words) all += (all.empty() ? ": " : ", ") + word;
  return all;
}

}  // namespace

std::uint32_t ModelSpec::number(const std::string& key) const {
  return typed_value<std::uint32_t>(*this, key);
}
const Widths& ModelSpec::widths(const std::string& key) const {
  return typed_value<Widths>(*this, key);
}
const std::string& ModelSpec::word(const std::string& key) const {
  return typed_value<std::string>(*this, key);
}

DataForm form_of(const Dataset& data) {
  if (data.is_text()) return DataForm::text;
  if (data.is_sparse()) return DataForm::sparse;
  if (data.classes == 0) return DataForm::targets;
  return data.image == ImageShape{} ? DataForm::rows : DataForm::pictures;
}

bool ModelRow::fits_to(DataForm form) const {
  return std::ranges::find(fits, form) != fits.end();
}

const ModelRow& find_model(const std::string& kind) {
  const auto row = std::ranges::find(models(), kind, &ModelRow::kind);
  if (row == models().end()) refuse_model(kind, "is not known");
  return *row;
}

void check_model(const ModelSpec& spec) {
  const ModelRow& row = find_model(spec.kind);
  for (const auto& [name, value] : spec.values) {
    const ModelKey* const key = find_key(row, name);
    if (key == nullptr) refuse_model(spec.kind, "has no key `" + name + "`");
    if (!allowed(*key, value))
      refuse_model(spec.kind, "takes no `" + text_of(value) + "` as its " + name + ": " +
                                  key->help + allowed_words(*key));
  }
  if (row.object == nullptr) return;
  if (const auto objection = row.object(spec))
    refuse_model(spec.kind, "is refused: " + objection->what);
}

std::string to_string(const ModelSpec& spec) {
  std::string text = spec.kind;
  for (const ModelKey& key : find_model(spec.kind).keys)
    text += " " + key.name + "=" + text_of(value_of(spec, key));
  return text;
}

const ModelRow& model_for(const ModelSpec& spec, const Dataset& data) {
  check_model(spec);
  const ModelRow& row = find_model(spec.kind);
  const DataForm form = form_of(data);
  if (row.fits_to(form)) return row;
  std::string wanted;
  for (const DataForm fit : row.fits)
    wanted.append(wanted.empty() ? "" : " or ").append(name_of(fit));
  refuse_model(spec.kind, "learns from " + wanted + "; these data are " + name_of(form));
}

NeuralNetwork make_network(const ModelSpec& spec, const Dataset& data) {
  const ModelRow& row = model_for(spec, data);
  if (row.network == nullptr) refuse_model(spec.kind, "is no network");
  return row.network(spec, data);
}

std::vector<HiddenMatrix> hidden_matrices(const NeuralNetwork& network) {
  const std::vector<bool> depends = learnt(network);
  std::vector<HiddenMatrix> matrices;
  for (std::uint32_t k = 0; k + 1 < network.nodes.size(); ++k) {
    const Node& node = network.nodes[k];
    const bool maps = node.op == Op::linear || node.op == Op::convolution;
    if (!maps || !depends[node.inputs.front()]) continue;
    const Tensor& weight = network.tensors[node.parameters.front()];
    const std::uint32_t parts = maps_of(network, k);
    const std::uint32_t rows = weight.parameter.shape.front() / parts;
    const auto columns = static_cast<std::uint32_t>(weight.count / weight.parameter.shape.front());
    if (rows < 2 || columns < 2) continue;  // a vector
    for (std::uint32_t part = 0; part < parts; ++part)
      matrices.push_back({weight.offset + std::size_t{part} * rows * columns, rows, columns});
  }
  std::ranges::sort(matrices, {}, &HiddenMatrix::offset);
  return matrices;
}

std::vector<HiddenMatrix> hidden_matrices(const ModelSpec& model, const Dataset& data) {
  if (model_for(model, data).network == nullptr) return {};
  return hidden_matrices(make_network(model, data));
}

}  // namespace gv
