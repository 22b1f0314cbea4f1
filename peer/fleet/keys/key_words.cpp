#include "peer/fleet/keys/key_words.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/check.h"

namespace gv {
namespace {

/// Returns whether the text is one word of a fleet file, such as "on-failure" or "crop+flip".
bool is_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-+_").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, plain);
}

}  // namespace

const PlainKey& plain_key(std::string_view key) {
  for (const std::span<const PlainKey> rows :
       {run_keys(), common_data_keys(), divided_data_keys(), agent_keys(), train_keys()})
    if (const auto row = std::ranges::find(rows, key, &PlainKey::key); row != rows.end())
      return *row;
  throw std::logic_error(fmt::format("{} has no row", key));
}

const Takes& key_range(std::string_view key) {
  const Takes& takes = plain_key(key).takes;
  GV_CHECK(takes.least < takes.most, "the row of such a key has a range");
  return takes;
}

std::vector<std::string> key_words(std::string_view key) {
  std::string takes = with_launchers(plain_key(key).takes.text);
  if (const std::size_t last = takes.rfind(" or "); last != std::string::npos)
    takes.replace(last, 4, ", ");
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= takes.size();) {
    const std::size_t end = std::min(takes.find(", ", from), takes.size());
    words.push_back(takes.substr(from, end - from));
    from = end + 2;
  }
  GV_CHECK(std::ranges::all_of(words, is_word), "the row of such a key is a list of words");
  return words;
}

}  // namespace gv
