#pragma once

#include <charconv>
#include <concepts>
#include <stdexcept>
#include <string>

#include "graph/formats/json_value.h"

namespace gv {

// What a document that was read says under a key. Each throws std::runtime_error, which names the
// key, when the member is missing, of another kind or out of the type's range.

const JsonValue& json_member(const JsonValue& object, const std::string& key);
const std::string& json_text(const JsonValue& object, const std::string& key);
bool json_boolean(const JsonValue& object, const std::string& key);
/// NaN for null, as which `Json` writes what is not finite.
double json_number(const JsonValue& object, const std::string& key);

/// Throws: `key` is not `expected`.
[[noreturn]] void refuse_json(const std::string& key, const char* expected);

template <std::integral Integer>
Integer json_integer(const JsonValue& object, const std::string& key) {
  const JsonValue& value = json_member(object, key);
  Integer number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [last, error] = std::from_chars(value.text.data(), end, number);
  if (value.kind != JsonValue::Kind::number || error != std::errc{} || last != end)
    refuse_json(key, "an integer of its range");
  return number;
}

}  // namespace gv
