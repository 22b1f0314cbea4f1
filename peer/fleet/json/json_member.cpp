#include "peer/fleet/json/json_member.h"

#include <limits>

namespace gv {
namespace {

const JsonValue& member_of(const JsonValue& object,
                           const std::string& key,
                           JsonValue::Kind kind,
                           const char* name) {
  const JsonValue& value = json_member(object, key);
  if (value.kind != kind) refuse_json(key, name);
  return value;
}

}  // namespace

void refuse_json(const std::string& key, const char* expected) {
  throw std::runtime_error("`" + key + "` is not " + expected);
}

const JsonValue& json_member(const JsonValue& object, const std::string& key) {
  const JsonValue* const value = object.find(key);
  if (value == nullptr) throw std::runtime_error("there is no `" + key + "`");
  return *value;
}

const std::string& json_text(const JsonValue& object, const std::string& key) {
  return member_of(object, key, JsonValue::Kind::text, "a text").text;
}

bool json_boolean(const JsonValue& object, const std::string& key) {
  return member_of(object, key, JsonValue::Kind::boolean, "true or false").boolean;
}

double json_number(const JsonValue& object, const std::string& key) {
  if (json_member(object, key).kind == JsonValue::Kind::null)
    return std::numeric_limits<double>::quiet_NaN();
  const std::string& text = member_of(object, key, JsonValue::Kind::number, "a number").text;
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace gv
