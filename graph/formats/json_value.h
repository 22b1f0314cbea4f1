#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A value of JSON (RFC 8259), as far as a graph file needs it; each one knows its line.
struct JsonValue {
  enum class Kind { null, boolean, number, text, array, object };
  struct Member;
  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;  ///< a text, decoded; a number, as it was written
  std::vector<JsonValue> items;
  std::vector<Member> members;  ///< in an object: in the document's order
  std::size_t line = 0;

  const JsonValue* find(std::string_view key) const;  ///< null if there is none
};
struct JsonValue::Member {
  std::string key;
  JsonValue value;
};

/// Throws GraphFileError "path:line: what". Nesting up to 64.
JsonValue parse_json(std::string_view text, const std::string& path);

/// Returns the text in quotes, escaped.
std::string json_quoted(std::string_view text);

}  // namespace gv
