#include "peer/launch/program/program_words.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"

namespace gv::asked {
namespace {

constexpr const char* program_schema = "grapevine.program/1";
constexpr std::size_t most_versions = 100;
constexpr std::size_t longest_word = 1000;  ///< bytes

std::string word_in(const std::string& text) {
  if (text.size() > longest_word || !is_printable(text))
    throw std::runtime_error(fmt::format("`{}` is no word", printable(text, 100)));
  return text;
}

template <class Integer>
std::vector<Integer> integers_in(const JsonValue& object, const std::string& key) {
  const JsonValue& list = json_member(object, key);
  if (list.kind != JsonValue::Kind::array || list.items.size() > most_dimensions)
    refuse_json(key, "a list of at most 16 integers");
  std::vector<Integer> numbers;
  for (const JsonValue& item : list.items) read_json(item, key, numbers.emplace_back());
  return numbers;
}

Tensor tensor_in(const JsonValue& json) {
  Tensor tensor{.name = word_in(json_text(json, "name")),
                .shape = integers_in<std::uint32_t>(json, "shape"),
                .strides = integers_in<std::int64_t>(json, "strides")};
  if (tensor.name.empty()) throw std::runtime_error("a tensor has no name");
  if (tensor.strides.size() != tensor.shape.size())
    throw std::runtime_error(fmt::format("{} has not as many strides as dimensions", tensor.name));
  return tensor;
}

Introduction introduction_in(const JsonValue& json) {
  Introduction says{.evaluates = json_boolean(json, "evaluates"),
                    .optimizer = word_in(json_text(json, "optimizer")),
                    .batches = json_integer<std::uint64_t>(json, "batches")};
  const std::vector<JsonValue>& tensors = json_member(json, "parameters").items;
  if (tensors.empty() || tensors.size() > most_tensors)
    throw std::runtime_error(
        fmt::format("it has {} tensors: 1 to {} are allowed", tensors.size(), most_tensors));
  std::set<std::string> names;
  for (const JsonValue& tensor : tensors) {
    says.parameters.push_back(tensor_in(tensor));
    if (!names.insert(says.parameters.back().name).second)
      throw std::runtime_error(
          fmt::format("two tensors are called {}", says.parameters.back().name));
  }
  floats_of(says.parameters);
  const std::vector<JsonValue::Member>& versions = json_member(json, "versions").members;
  if (versions.size() > most_versions) throw std::runtime_error("it names too many versions");
  for (const auto& [name, version] : versions) says.versions[word_in(name)] = word_in(version.text);
  if (const JsonValue* s = json.find("seconds_per_step");
      s != nullptr && s->kind == JsonValue::Kind::number)
    says.seconds_per_step = json_number(json, "seconds_per_step");
  if (json.find("whole") != nullptr) says.whole = json_boolean(json, "whole");
  return says;
}

/// Returns a figure, or nothing for null: values that are unknown or not finite.
std::optional<double> figure_in(const JsonValue& json, const std::string& key) {
  const JsonValue* const figure = json.find(key);
  if (figure == nullptr || figure->kind == JsonValue::Kind::null) return std::nullopt;
  return json_number(json, key);
}

Figures figures_in(const JsonValue& json) {
  return {.number = json_integer<std::uint64_t>(json, "evaluated"),
          .loss = figure_in(json, "loss"),
          .accuracy = figure_in(json, "accuracy")};
}

}  // namespace

std::size_t floats_of(const std::vector<Tensor>& tensors) {
  std::size_t all = 0;
  for (const Tensor& tensor : tensors) {
    std::size_t floats = 1;
    for (const std::uint32_t extent : tensor.shape) {
      const bool fits = extent == 0 || floats <= most_floats / extent;  // a product may wrap around
      floats = fits ? floats * extent : most_floats + 1;
    }
    all += floats;
    if (all > most_floats)
      throw std::runtime_error(fmt::format("it has more than {} parameters", most_floats));
  }
  return all;
}

std::string line(const Introduction& says) {
  Json tensors = Json::array();
  for (const Tensor& t : says.parameters)
    tensors.push_back(Json{{"name", t.name}, {"shape", t.shape}, {"strides", t.strides}});
  Json versions = Json::object();
  for (const auto& [name, version] : says.versions) versions.add(name, version);
  return Json{{"schema", program_schema},
              {"parameters", tensors},
              {"evaluates", says.evaluates},
              {"optimizer", says.optimizer},
              {"batches", says.batches},
              {"versions", versions},
              {"seconds_per_step", says.seconds_per_step},
              {"whole", says.whole}}
      .dump();
}
std::string line(const Figures& says) {
  return Json{{"evaluated", says.number}, {"loss", says.loss}, {"accuracy", says.accuracy}}.dump();
}
std::string line(const Saved& says) {
  return Json{{"saved", says.number}}.dump();
}
std::string line(const Save& says) {
  return Json{{"save", says.number}, {"path", says.path}}.dump();
}
std::string line(const Evaluate& says) {
  return Json{{"evaluate", says.number}}.dump();
}
std::string line(const Stop&) {
  return Json{{"stop", true}}.dump();
}

ProgramSays parse_program(const std::string& text) {
  const JsonValue json = parse_json(text, "a program's line");
  if (json.find("evaluated") != nullptr) return figures_in(json);
  if (json.find("saved") != nullptr) return Saved{json_integer<std::uint64_t>(json, "saved")};
  const JsonValue* const said = json.find("schema");
  if (said == nullptr) return {};
  if (said->text != program_schema)
    throw std::runtime_error(fmt::format("it speaks {}, and this program {}",
                                         printable(said->text, 100), program_schema));
  return introduction_in(json);
}

LauncherSays parse_launcher(const std::string& text) {
  try {
    const JsonValue json = parse_json(text, "the launcher's line");
    if (json.find("evaluate") != nullptr)
      return Evaluate{json_integer<std::uint64_t>(json, "evaluate")};
    if (json.find("save") != nullptr)
      return Save{json_integer<std::uint64_t>(json, "save"), json_text(json, "path")};
    if (json.find("stop") != nullptr) return Stop{};
  } catch (const std::exception&) {
    return {};
  }
  return {};
}

}  // namespace gv::asked
