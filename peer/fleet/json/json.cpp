#include "peer/fleet/json/json.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "optim/check.h"

namespace gv {
namespace {

/// Writes a scalar with the library: the shortest digits that read back as the same number, null
/// for non-finite numbers, U+FFFD for invalid UTF-8.
template <class Scalar>
std::string scalar(Scalar value) {
  using Library = nlohmann::ordered_json;
  return Library(value).dump(-1, ' ', false, Library::error_handler_t::replace);
}

const std::string& text_in(const JsonValue& json, const std::string& key) {
  if (json.kind != JsonValue::Kind::text) refuse_json(key, "a text");
  return json.text;
}

}  // namespace

Json::Json(double value) : text_(scalar(value)) {}

Json::Json(std::string_view text) : text_(scalar(text)) {}

Json::Json(std::initializer_list<Member> members) : kind_(Kind::object) {
  for (const auto& [key, value] : members) (*this)[key] = value;
}

void Json::become(Kind kind) {
  if (is_null()) *this = Json(kind);
  GV_CHECK(kind_ == kind, "a JSON value is used as what it is not");
}

Json& Json::operator[](std::string_view key) {
  become(Kind::object);
  const auto known = std::ranges::find(keys_, key);
  if (known != keys_.end()) return values_[static_cast<std::size_t>(known - keys_.begin())];
  keys_.emplace_back(key);
  return values_.emplace_back();
}

void Json::add(std::string_view key, Json value) {
  become(Kind::object);
  keys_.emplace_back(key);
  values_.push_back(std::move(value));
}

void Json::update(const Json& other) {
  GV_CHECK(other.kind_ == Kind::object, "only an object has members to take over");
  for (std::size_t k = 0; k < other.keys_.size(); ++k) (*this)[other.keys_[k]] = other.values_[k];
}

void Json::push_back(Json value) {
  become(Kind::array);
  values_.push_back(std::move(value));
}

void Json::write(std::string& out, int indent, int depth) const {
  if (kind_ == Kind::scalar) {
    out += text_;
    return;
  }
  const auto new_line = [&](int level) {
    if (indent > 0 && !values_.empty())
      out.append(1, '\n').append(static_cast<std::size_t>(level * indent), ' ');
  };
  out += kind_ == Kind::object ? '{' : '[';
  for (std::size_t k = 0; k < values_.size(); ++k) {
    if (k > 0) out += ',';
    new_line(depth + 1);
    if (kind_ == Kind::object) out.append(scalar(keys_[k])).append(indent > 0 ? ": " : ":");
    values_[k].write(out, indent, depth + 1);
  }
  new_line(depth);
  out += kind_ == Kind::object ? '}' : ']';
}

std::string Json::dump(int indent) const {
  std::string out;
  write(out, indent, 0);
  return out;
}

void refuse_json(const std::string& key, const char* expected) {
  throw std::runtime_error("`" + key + "` is not " + expected);
}

const JsonValue& json_member(const JsonValue& object, const std::string& key) {
  const JsonValue* const value = object.find(key);
  if (value == nullptr) throw std::runtime_error("there is no `" + key + "`");
  return *value;
}

void read_json(const JsonValue& json, const std::string& key, std::string& to) {
  to = text_in(json, key);
}

void read_json(const JsonValue& json, const std::string& key, bool& to) {
  if (json.kind != JsonValue::Kind::boolean) refuse_json(key, "true or false");
  to = json.boolean;
}

void read_json(const JsonValue& json, const std::string& key, double& to) {
  to = std::numeric_limits<double>::quiet_NaN();
  if (json.kind == JsonValue::Kind::null) return;
  if (json.kind != JsonValue::Kind::number) refuse_json(key, "a number");
  to = 0;
  std::from_chars(json.text.data(), json.text.data() + json.text.size(), to);
}

const std::string& json_text(const JsonValue& object, const std::string& key) {
  return text_in(json_member(object, key), key);
}

bool json_boolean(const JsonValue& object, const std::string& key) {
  bool value = false;
  read_json(json_member(object, key), key, value);
  return value;
}

double json_number(const JsonValue& object, const std::string& key) {
  double number = 0;
  read_json(json_member(object, key), key, number);
  return number;
}

}  // namespace gv
