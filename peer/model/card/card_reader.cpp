#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/data/field.h"
#include "optim/data/table/table_plan.h"
#include "optim/printable.h"
#include "peer/fleet/json/json.h"
#include "peer/model/card/model_card.h"

namespace gv {
namespace {

constexpr std::uint32_t most_features = 100'000'000;
constexpr std::uint32_t longest_side = 4096;
constexpr double largest = 3e38;

class CardReader {
 public:
  CardReader(const std::string& path, const std::map<std::string, std::string>& metadata)
      : path_(path), metadata_(metadata) {}

  ModelCard read() {
    if (maybe("schema") != "grapevine.model/1")
      throw std::runtime_error(
          "its metadata are not those of a model that this program saved (grapevine.model/1); "
          "train it again, or begin from it: `model: { start: FILE }`");
    ModelCard card{.fleet = name("fleet"),
                   .version = name("version"),
                   .digest = name("digest"),
                   .seed = count("seed"),
                   .rounds = count("rounds"),
                   .model = model(),
                   .data = "",
                   .like = nullptr};
    if (!maybe("peer").empty())
      card.peer = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(count("peer"), std::numeric_limits<std::uint32_t>::max()));
    const JsonValue data = json("data");
    card.data = printable_name(json_text(data, "kind"));
    card.train_samples = json_integer<std::uint64_t>(data, "train");
    card.test_samples = json_integer<std::uint64_t>(data, "test");
    card.train_digest = printable_name(json_text(data, "train_digest"));
    card.test_digest = printable_name(json_text(data, "test_digest"));
    if (!maybe("input").empty()) card.like = like(card.missing);
    return card;
  }

 private:
  std::string maybe(const std::string& key) const {
    const auto it = metadata_.find(key);
    return it == metadata_.end() ? "" : it->second;
  }
  std::string name(const std::string& key) const { return printable_name(maybe(key)); }
  static std::string printable_name(const std::string& text) {
    if (text.size() > table_bounds::name_bytes || !is_printable(text))
      throw std::runtime_error("its metadata hold a name that is too long or not printable");
    return text;
  }
  std::uint64_t count(const std::string& key) const {
    const auto number = number_of<std::uint64_t>(maybe(key));
    if (!number) throw std::runtime_error("`" + key + "` in its metadata is no whole number");
    return *number;
  }
  JsonValue json(const std::string& key) const {
    const std::string text = maybe(key);
    if (text.empty()) throw std::runtime_error("its metadata do not have `" + key + "`");
    return parse_json(text, path_ + ", `" + key + "` in its metadata");
  }

  static const std::vector<JsonValue>& list(const JsonValue& object,
                                            const std::string& key,
                                            std::size_t most) {
    const JsonValue& value = json_member(object, key);
    if (value.kind != JsonValue::Kind::array || value.items.size() > most)
      refuse_json(key, "a list of at most " + std::to_string(most));
    return value.items;
  }
  [[noreturn]] static void refuse_json(const std::string& key, const std::string& expected) {
    throw std::runtime_error("`" + key + "` in its metadata is not " + expected);
  }
  static double number(const JsonValue& value) {
    const auto parsed = number_of<double>(value.text);
    if (value.kind != JsonValue::Kind::number || !parsed || !(std::abs(*parsed) <= largest))
      throw std::runtime_error("a number in its metadata is not a number, or beyond 3e38");
    return *parsed;
  }
  template <class Integer>
  static Integer whole(const JsonValue& value, Integer most) {
    const auto parsed = number_of<Integer>(value.text);
    if (value.kind != JsonValue::Kind::number || !parsed || *parsed > most)
      throw std::runtime_error("a number in its metadata is not whole, or beyond " +
                               std::to_string(most));
    return *parsed;
  }
  static std::vector<std::string> names(const std::vector<JsonValue>& items) {
    std::vector<std::string> words;
    for (const JsonValue& item : items) {
      if (item.kind != JsonValue::Kind::text)
        throw std::runtime_error("a name in its metadata is no text");
      words.push_back(printable_name(item.text));
    }
    return words;
  }

  ModelSpec model() const {
    const JsonValue object = json("model");
    ModelSpec spec{.kind = json_text(object, "kind")};
    if (spec.kind == program_model) return spec;
    for (const ModelKey& key : find_model(spec.kind).keys)
      if (const JsonValue* value = object.find(key.name))
        spec.values[key.name] = model_value(key, *value);
    check_model(spec);
    return spec;
  }
  static ModelValue model_value(const ModelKey& key, const JsonValue& value) {
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    if (std::holds_alternative<std::string>(key.usual)) return value.text;
    if (std::holds_alternative<std::uint32_t>(key.usual)) return whole(value, most);
    Widths widths;
    for (const JsonValue& item : value.items) widths.push_back(whole(item, most));
    return widths;
  }

  std::shared_ptr<const Dataset> like(MissingValue& missing) const {
    auto data = std::make_shared<Dataset>();
    const JsonValue input = json("input");
    const std::string& form = json_text(input, "form");
    if (form == "text") {
      read_text(input, *data);
      return data;
    }
    if (form == "pictures") read_pictures(input, *data);
    if (form != "pictures") data->features = features(input);
    if (form == "sparse") data->sparse.ends = {0};
    std::vector<std::string> classes;
    if (!maybe("classes").empty()) classes = class_list();
    if (classes.empty() != (form == "targets"))
      throw std::runtime_error(
          "its metadata name classes although there are none, or none although "
          "there are some");
    data->classes = static_cast<std::uint32_t>(classes.size());
    DataFacts facts{.format = "", .target = ""};
    facts.target_shift = 0;
    if (const JsonValue* first = input.find("first_column"))
      facts.first_column = whole<std::uint32_t>(*first, 1);
    if (!maybe("columns").empty()) read_table(facts, missing);
    if (!facts.columns.empty() && facts.features() != data->features)
      throw std::runtime_error("the columns in its metadata are not those of its features");
    facts.classes = std::move(classes);
    data->facts = std::make_shared<const DataFacts>(std::move(facts));
    return data;
  }

  std::uint32_t features(const JsonValue& input) const {
    const std::uint32_t count = whole(json_member(input, "features"), most_features);
    if (count == 0) throw std::runtime_error("its metadata describe samples without features");
    return count;
  }

  std::vector<std::string> class_list() const {
    const JsonValue array = json("classes");
    if (array.kind != JsonValue::Kind::array || array.items.size() > table_bounds::classes)
      throw std::runtime_error("the classes in its metadata are no list of at most 256");
    return names(array.items);
  }

  static void read_text(const JsonValue& input, Dataset& data) {
    data.context = data.features = whole<std::uint32_t>(json_member(input, "context"), 1'000'000);
    for (const JsonValue& byte : list(input, "vocabulary", 256))
      data.vocabulary.push_back(static_cast<std::uint8_t>(whole<std::uint32_t>(byte, 255)));
    if (data.context == 0 || data.vocabulary.empty())
      throw std::runtime_error("its metadata describe a text without characters");
    data.classes = static_cast<std::uint32_t>(data.vocabulary.size());
  }

  static void read_pictures(const JsonValue& input, Dataset& data) {
    const std::vector<JsonValue>& shape = list(input, "shape", 3);
    if (shape.size() != 3)
      throw std::runtime_error("the shape of its pictures is not three numbers");
    data.image = {.channels = whole<std::uint32_t>(shape[0], 3),
                  .height = whole(shape[1], longest_side),
                  .width = whole(shape[2], longest_side)};
    data.features = data.image.channels * data.image.height * data.image.width;
    data.shift = floats(list(input, "shift", 3));
    data.scale = floats(list(input, "scale", 3));
    const std::size_t parts = data.shift.size();
    if (data.features == 0 || parts != data.scale.size() ||
        (parts != 1 && parts != data.image.channels))
      throw std::runtime_error("its metadata do not give the scaling of its pictures");
  }
  static std::vector<float> floats(const std::vector<JsonValue>& items) {
    std::vector<float> values;
    for (const JsonValue& item : items) values.push_back(static_cast<float>(number(item)));
    return values;
  }

  void read_table(DataFacts& facts, MissingValue& missing) const {
    const JsonValue table = json("table");
    facts.format = printable_name(json_text(table, "format"));
    facts.target = printable_name(json_text(table, "target"));
    facts.standardized = json_boolean(table, "standardized");
    const std::string& word = json_text(table, "missing");
    if (word == "mean") missing = MissingValue::mean;
    if (word == "drop") missing = MissingValue::drop;
    if (table.find("decimal") != nullptr && json_text(table, "decimal") == ",") facts.decimal = ',';
    if (table.find("header") != nullptr) facts.header = json_boolean(table, "header");
    if (const JsonValue* shift = table.find("target_shift")) facts.target_shift = number(*shift);
    const JsonValue columns = json("columns");
    if (columns.items.size() > table_bounds::columns)
      throw std::runtime_error("its metadata have more columns than a table may have");
    for (const JsonValue& column : columns.items) facts.columns.push_back(read_column(column));
  }

  static ColumnFacts read_column(const JsonValue& object) {
    ColumnFacts column{.name = printable_name(json_text(object, "name"))};
    if (object.find("values") != nullptr) {
      column.levels = names(list(object, "values", table_bounds::levels));
      for (const JsonValue& share : list(object, "shares", table_bounds::levels))
        column.shares.push_back(number(share));
      if (column.levels.empty() || column.levels.size() != column.shares.size())
        throw std::runtime_error("a category in its metadata has no share for each value");
      return column;
    }
    column.mean = number(json_member(object, "mean"));
    column.deviation = number(json_member(object, "deviation"));
    column.date = object.find("unit") != nullptr;
    return column;
  }

  const std::string& path_;
  const std::map<std::string, std::string>& metadata_;
};

}  // namespace

ModelCard read_card(const std::string& path, const std::map<std::string, std::string>& metadata) {
  try {
    return CardReader(path, metadata).read();
  } catch (const std::exception& e) {
    throw std::runtime_error(path + ": " + printable(e.what(), 500));
  }
}

}  // namespace gv
