#include "graph/formats/json_value.h"

#include <algorithm>
#include <charconv>

#include "graph/formats/file_error.h"
#include "graph/spec/parameters.h"

namespace gv {
namespace {

void append_utf8(std::string& out, unsigned code) {
  const auto byte = [&](unsigned value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  JsonValue document() {
    JsonValue root = value(0);
    skip_space();
    if (at_ < text_.size()) fail("something follows the end of the document");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse_file(path_ + ":" + std::to_string(line_) + ": ", what);
  }

  void skip_space() {
    for (; at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r'));
         ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }

  char peek() {
    skip_space();
    if (at_ == text_.size()) fail("the document ends early");
    return text_[at_];
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c))
      fail(std::string("expected `") + c + "`, found `" + excerpt(text_.substr(at_, 1)) + "`");
  }

  JsonValue value(int depth) {
    if (depth > 64) fail("nested deeper than 64");
    const char c = peek();
    JsonValue v;
    v.line = line_;
    if (c == '{') {
      read_object(v, depth);
    } else if (c == '[') {
      read_array(v, depth);
    } else if (c == '"') {
      v.kind = JsonValue::Kind::text;
      v.text = string();
    } else {
      read_word(v);
    }
    return v;
  }

  void read_object(JsonValue& v, int depth) {
    v.kind = JsonValue::Kind::object;
    expect('{');
    if (take('}')) return;
    do {
      if (peek() != '"') fail("expected a key in quotes");
      std::string key = string();
      expect(':');
      v.members.push_back({std::move(key), value(depth + 1)});
    } while (take(','));
    expect('}');
  }

  void read_array(JsonValue& v, int depth) {
    v.kind = JsonValue::Kind::array;
    expect('[');
    if (take(']')) return;
    do v.items.push_back(value(depth + 1));
    while (take(','));
    expect(']');
  }

  /// Reads true, false, null or a number.
  void read_word(JsonValue& v) {
    const std::size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    v.text = text_.substr(at_, end - at_);
    at_ = end;
    if (v.text == "null") return;
    if (v.text == "true" || v.text == "false") {
      v.kind = JsonValue::Kind::boolean;
      v.boolean = v.text == "true";
      return;
    }
    v.kind = JsonValue::Kind::number;
    if (!as_number<double>(v.text)) fail("`" + excerpt(v.text) + "` is no value");
  }

  std::string string() {
    std::string out;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\n') fail("a string does not end");
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      if (++at_ == text_.size()) break;
      escape(out);
    }
    if (at_ == text_.size()) fail("a string does not end");
    ++at_;
    return out;
  }

  void escape(std::string& out) {
    static constexpr std::string_view from = "\"\\/bfnrt";
    static constexpr std::string_view to = "\"\\/\b\f\n\r\t";
    if (const auto k = from.find(text_[at_]); k != std::string_view::npos) {
      out += to[k];
      return;
    }
    unsigned code = 0;
    const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    const bool four = digits.size() == 4 && end == digits.data() + digits.size();
    if (text_[at_] != 'u' || error != std::errc{} || !four)
      fail("an escape that JSON does not have");
    append_utf8(out, code);
    at_ += 4;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto it = std::ranges::find_if(members, [&](const Member& m) { return m.key == key; });
  return it == members.end() ? nullptr : &it->value;
}

JsonValue parse_json(std::string_view text, const std::string& path) {
  return Parser(text, path).document();
}

std::string json_quoted(std::string_view text) {
  std::string out(1, '"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace gv
