#include "peer/cli/embed/word_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/printable.h"
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/grapevine_program.h"

namespace gv::embed {
namespace {

using Kind = JsonValue::Kind;
constexpr std::size_t most_shown = 60;  ///< bytes of a word that is not ours

JsonValue parse(const std::string& call, const char* json) {
  const bool empty = json == nullptr || *json == '\0';
  try {
    return parse_json(empty ? "{}" : json, call);
  } catch (const std::exception& e) {
    throw Fault(GV_E_USE, printable(e.what(), 300));
  }
}

double number_of(const JsonValue& value) {
  return std::strtod(value.text.c_str(), nullptr);
}

}  // namespace

WordReader::WordReader(std::string call, const char* json) : WordReader(call, parse(call, json)) {}

WordReader::WordReader(std::string call, const JsonValue& object)
    : call_(std::move(call)), object_(object) {
  if (object_.kind != Kind::object)
    throw Fault(GV_E_USE, fmt::format("{}: its text is no JSON object", call_));
}

void WordReader::refuse(const std::string& key, const std::string& what) const {
  throw Fault(GV_E_USE, fmt::format("{}: `{}` {}", call_, printable(key, most_shown), what));
}

const JsonValue* WordReader::find(const std::string& key) {
  known_.insert(key);
  const JsonValue* const value = object_.find(key);
  return value == nullptr || value->kind == Kind::null ? nullptr : value;
}

void WordReader::read(const std::string& key, std::string& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  if (value->kind != Kind::text || value->text.find('\0') != std::string::npos)
    refuse(key, "is a text without zero bytes");
  target = value->text;
}

void WordReader::read(const std::string& key, bool& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  if (value->kind != Kind::boolean) refuse(key, "is true or false");
  target = value->boolean;
}

void WordReader::read(const std::string& key, double& target, double least, double most) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  const double number = value->kind == Kind::number ? number_of(*value) : std::nan("");
  if (!(number >= least && number <= most))
    refuse(key, fmt::format("is a number, {:g} .. {:g}", least, most));
  target = number;
}

void WordReader::read(const std::string& key, std::vector<std::string>& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  const auto is_text = [](const JsonValue& item) { return item.kind == Kind::text; };
  if (value->kind != Kind::array || !std::ranges::all_of(value->items, is_text))
    refuse(key, "is a list of texts");
  target.clear();
  for (const JsonValue& item : value->items) target.push_back(item.text);
}

void WordReader::read(const std::string& key, std::vector<std::pair<std::string, double>>& target) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return;
  if (value->kind != Kind::object) refuse(key, "is an object of numbers");
  for (const auto& [name, number] : value->members) {
    if (number.kind != Kind::number && number.kind != Kind::null)
      refuse(key, fmt::format("has `{}`, which is no number", printable(name, most_shown)));
    target.emplace_back(name, number.kind == Kind::null ? std::nan("") : number_of(number));
  }
}

bool WordReader::read_count(const std::string& key, std::uint64_t& target, std::uint64_t most) {
  const JsonValue* const value = find(key);
  if (value == nullptr) return false;
  const char* const end = value->text.data() + value->text.size();
  const auto [last, error] = std::from_chars(value->text.data(), end, target);
  if (value->kind != Kind::number || error != std::errc{} || last != end || target > most)
    refuse(key, fmt::format("is a whole number, 0 .. {}", most));
  return true;
}

std::size_t WordReader::choice(const std::string& key,
                               std::size_t usual,
                               std::vector<std::string> words) {
  std::string word;
  if (find(key) == nullptr) return usual;
  read(key, word);
  const auto at = std::ranges::find(words, word);
  if (at == words.end()) refuse(key, fmt::format("is one of {}", fmt::join(words, ", ")));
  return static_cast<std::size_t>(at - words.begin());
}

void WordReader::finish() const {
  for (const JsonValue::Member& member : object_.members)
    if (!known_.contains(member.key))
      refuse(member.key, fmt::format("is none of {}", fmt::join(known_, ", ")));
}

}  // namespace gv::embed
