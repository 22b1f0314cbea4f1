#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "peer/fleet/json/json.h"

namespace gv {

// A struct that travels as a JSON object names its members once:
//
//   struct Kept {
//     Round round = 0;
//     void fields(auto& v) { v("round", round); }
//   };
//
// or, if it must not know of JSON, in a function `fields(auto& v, Kept& kept)` of its namespace. A
// FieldWriter writes the members in this order, a FieldReader reads them. to_json() and read_json()
// take such structs, empty ones, and optionals, lists and maps. A time is whole nanoseconds.

class FieldWriter;

template <class V, class Struct>
requires requires(V& v, Struct& value) {
  value.fields(v);
}
void fields(V& v, Struct& value) {
  value.fields(v);
}

template <class T>
concept HasFields = requires(FieldWriter& v, T& value) {
  fields(v, value);
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

/// Writes an optional without value as null.
template <class T>
Json to_json(const T& value);

/// See FieldReader for the meaning of its functions.
class FieldWriter {
 public:
  static constexpr bool reads = false;

  template <class T>
  void operator()(std::string_view key, const T& value) {
    json.add(key, to_json(value));
  }
  void signed_time(std::string_view key, std::chrono::nanoseconds time) { (*this)(key, time); }
  template <class Enum, class Words>
  void word(std::string_view key, Enum value, const Words& words) {
    json.add(key, words.at(static_cast<std::size_t>(value)));
  }
  void also(std::string_view key, Json value) { json.add(key, std::move(value)); }
  template <class T>
  bool maybe(std::string_view key, const T& value, bool written) {
    if (written) (*this)(key, value);
    return written;
  }
  template <class T>
  bool maybe(std::string_view key, const T& value) {
    if constexpr (is_optional<T>)
      return maybe(key, value, value.has_value());
    else
      return maybe(key, value, !value.empty());
  }
  template <class T>
  void if_any(std::string_view key, const T& value) {
    if constexpr (is_list<T>)
      json.add(key, value.empty() ? Json() : to_json(value));
    else
      (*this)(key, value);
  }
  template <class T>
  void first(std::size_t, std::string_view key, const std::vector<T>& values) {
    (*this)(key, values);
  }
  bool has(std::string_view) const { return true; }

  Json json = Json::object();
};

class FieldReader {
 public:
  static constexpr bool reads = true;

  explicit FieldReader(const JsonValue& object) : json(object) {}

  /// The object must have the member.
  template <class T>
  void operator()(const std::string& key, T& value) {
    read_json(json_member(json, key), key, value);
  }
  /// A time that may be negative; others may not.
  void signed_time(const std::string& key, std::chrono::nanoseconds& time) {
    time = std::chrono::nanoseconds(json_integer<std::int64_t>(json, key));
  }
  /// A member of `words`, which are in the order of the enumeration.
  template <class Enum, class Words>
  void word(const std::string& key, Enum& value, const Words& words) {
    const auto found = std::ranges::find(words, json_text(json, key));
    if (found == words.end()) throw std::runtime_error("`" + key + "` has an unknown value");
    value = static_cast<Enum>(found - words.begin());
  }
  /// A member for other readers.
  void also(const std::string&, const Json&) {}
  /// A member that may be absent, and then leaves the value as it is. It is written if `written`,
  /// or if it differs from an empty value. Returns whether the object has it.
  template <class T>
  bool maybe(const std::string& key, T& value, bool = true) {
    const JsonValue* const found = json.find(key);
    if (found != nullptr) take(*found, key, value);
    return found != nullptr;
  }
  /// A member that is always written, an empty list as null, and that may be absent or null.
  template <class T>
  void if_any(const std::string& key, T& value) {
    const JsonValue* const found = json.find(key);
    if (found != nullptr && found->kind != JsonValue::Kind::null) take(*found, key, value);
  }
  /// A list of which only this many items are read.
  template <class T>
  void first(std::size_t most, const std::string& key, std::vector<T>& values) {
    read_json(json_member(json, key), key, values, most);
  }
  /// Returns whether the object has the member; a writer's has all.
  bool has(std::string_view key) const { return json.find(key) != nullptr; }

  const JsonValue& json;

 private:
  template <class T>
  static void take(const JsonValue& found, const std::string& key, T& value) {
    if constexpr (is_optional<T>)
      read_json(found, key, value.emplace());
    else
      read_json(found, key, value);
  }
};

template <class T>
Json to_json(const T& value) {
  if constexpr (HasFields<T>) {
    FieldWriter writer;
    fields(writer, const_cast<T&>(value));  // it changes nothing
    return std::move(writer.json);
  } else if constexpr (std::is_empty_v<T>) {
    return Json::object();
  } else if constexpr (is_optional<T>) {
    return value ? to_json(*value) : Json();
  } else if constexpr (is_list<T>) {
    Json all = Json::array();
    for (const auto& each : value) all.push_back(to_json(each));
    return all;
  } else if constexpr (requires { typename T::mapped_type; }) {
    Json all = Json::object();
    for (const auto& [key, each] : value) all.add(key, to_json(each));
    return all;
  } else if constexpr (requires { value.count(); }) {
    return value.count();
  } else {
    return value;
  }
}

template <class T>
requires std::is_empty_v<T> || HasFields<T>
void read_json(const JsonValue& json, const std::string&, T& to) {
  if constexpr (HasFields<T>) {
    FieldReader reader(json);
    fields(reader, to);
  }
}

template <class T>
void read_json(const JsonValue& json, const std::string& key, std::optional<T>& to) {
  to.reset();
  if (json.kind != JsonValue::Kind::null) read_json(json, key, to.emplace());
}

/// Takes the first `most` items. Items of any kind are texts where texts are wanted.
template <class T>
void read_json(const JsonValue& json,
               const std::string& key,
               std::vector<T>& to,
               std::size_t most = SIZE_MAX) {
  for (const JsonValue& item : json.items) {
    if (to.size() >= most) return;
    if constexpr (std::is_same_v<T, std::string>)
      to.push_back(item.text);
    else
      read_json(item, key, to.emplace_back());
  }
}

/// Members of any kind are texts where texts are wanted.
template <class T>
void read_json(const JsonValue& json, const std::string&, std::map<std::string, T>& to) {
  for (const auto& [key, value] : json.members) {
    if constexpr (std::is_same_v<T, std::string>)
      to[key] = value.text;
    else
      read_json(value, key, to[key]);
  }
}

template <class Rep, class Period>
void read_json(const JsonValue& json,
               const std::string& key,
               std::chrono::duration<Rep, Period>& to) {
  Rep count = 0;
  read_json(json, key, count);
  if (count < 0) refuse_json(key, "a length of time");
  to = std::chrono::duration<Rep, Period>(count);
}

/// Reads the alternative of a variant with this index.
template <class Variant, std::size_t k = 0>
Variant read_alternative(const JsonValue& json, std::size_t index) {
  if constexpr (k + 1 < std::variant_size_v<Variant>)
    if (index != k) return read_alternative<Variant, k + 1>(json, index);
  Variant all{std::in_place_index<k>};
  read_json(json, "", std::get<k>(all));
  return all;
}

}  // namespace gv
