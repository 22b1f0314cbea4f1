#include "peer/json/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "optim/check.h"
#include "peer/json/utf8.h"

namespace gv {
namespace {

void append_escaped(std::string& out, unsigned char c) {
  static constexpr std::string_view from = "\"\\\b\f\n\r\t";
  static constexpr std::string_view to = "\"\\bfnrt";
  static constexpr std::string_view digits = "0123456789abcdef";
  if (const std::size_t k = from.find(static_cast<char>(c)); k != std::string_view::npos) {
    out += '\\';
    out += to[k];
  } else if (c < 0x20 || c == 0x7F) {
    out += "\\u00";
    out += digits[c >> 4];
    out += digits[c & 15];
  } else {
    out += static_cast<char>(c);
  }
}

std::string quoted(std::string_view text) {
  std::string out(1, '"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) out += "\uFFFD";
    if (length == 1) append_escaped(out, static_cast<unsigned char>(text.front()));
    if (length > 1) out += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

/// The shortest digits that read back as the same number; "1.0", not "1", so that it stays a
/// floating-point number for readers that tell them apart.
std::string number(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
  std::string text(digits.begin(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Json::Json(double value) : text_(std::isfinite(value) ? number(value) : "null") {}

Json::Json(std::string_view text) : text_(quoted(text)) {}

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
    if (kind_ == Kind::object) out.append(quoted(keys_[k])).append(indent > 0 ? ": " : ":");
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

}  // namespace gv
