#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/formats/json_value.h"
#include "graph/spec/parameters.h"
#include "optim/mapped.h"

namespace gv {

/// A JSON document (RFC 8259) to write; members keep the order of their insertion. Writing never
/// fails: invalid bytes of UTF-8 become U+FFFD, and numbers that are not finite, which JSON cannot
/// express, become null. Only json.cpp includes the library that writes scalars (nlohmann/json),
/// which takes seconds to compile. For reading see graph/formats.
class Json {
 public:
  using Member = std::pair<std::string_view, Json>;

  Json() : text_("null") {}
  Json(std::nullptr_t) : Json() {}
  Json(bool value) : text_(value ? "true" : "false") {}
  Json(double value);
  template <std::integral Integer>
  Json(Integer value) : text_(std::to_string(value)) {}
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  template <class Value>
  Json(const std::optional<Value>& value) : Json(value ? Json(*value) : Json()) {}
  template <class Value>
  Json(const std::vector<Value>& values) : Json(array()) {
    for (const Value& value : values) push_back(value);
  }
  Json(std::initializer_list<Member> members);

  static Json object() { return Json(Kind::object); }
  static Json array() { return Json(Kind::array); }
  /// Returns an object with the pairs of a different key and a value.
  template <class Pairs>
  static Json members(const Pairs& pairs) {
    Json all = object();
    for (const auto& [key, value] : pairs) all.add(key, value);
    return all;
  }

  bool is_null() const { return kind_ == Kind::scalar && text_ == "null"; }

  /// Returns the member of an object with this key; appends null if there is none. Null becomes an
  /// object.
  Json& operator[](std::string_view key);
  /// Appends a member with a new key; does not check for duplicates, which takes long for
  /// thousands.
  void add(std::string_view key, Json value);
  /// Sets each member of `other`, an object.
  void update(const Json& other);
  /// Appends to an array. Null becomes an array.
  void push_back(Json value);

  /// Returns the text on one line or, if `indent` > 0, with each value on its own line.
  std::string dump(int indent = 0) const;

 private:
  enum class Kind { scalar, object, array };
  explicit Json(Kind kind) : kind_(kind) {}
  void become(Kind kind);
  void write(std::string& out, int indent, int depth) const;

  Kind kind_ = Kind::scalar;
  std::string text_;               ///< scalar: its text
  std::vector<std::string> keys_;  ///< object: the members' keys
  std::vector<Json> values_;       ///< object or array: the values
};

/// Throws std::runtime_error: `key` is not `expected`.
[[noreturn]] void refuse_json(const std::string& key, const char* expected);

// Read a value of a document. Each throws std::runtime_error that names the key if the value is of
// another kind or out of the type's range. For structs, lists and others see fields.h.

void read_json(const JsonValue& json, const std::string& key, std::string& to);
void read_json(const JsonValue& json, const std::string& key, bool& to);
/// Reads null as NaN, because `Json` writes null for numbers that are not finite.
void read_json(const JsonValue& json, const std::string& key, double& to);
template <std::integral Integer>
void read_json(const JsonValue& json, const std::string& key, Integer& to) {
  const auto number = as_number<Integer>(json.text);
  if (json.kind != JsonValue::Kind::number || !number) refuse_json(key, "an integer of its range");
  to = *number;
}

// Return a member of an object, read in the same way. Each throws also if the member is missing.

const JsonValue& json_member(const JsonValue& object, const std::string& key);
const std::string& json_text(const JsonValue& object, const std::string& key);
bool json_boolean(const JsonValue& object, const std::string& key);
double json_number(const JsonValue& object, const std::string& key);

template <std::integral Integer>
Integer json_integer(const JsonValue& object, const std::string& key) {
  Integer number = 0;
  read_json(json_member(object, key), key, number);
  return number;
}

}  // namespace gv
