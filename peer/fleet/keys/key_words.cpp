#include "peer/fleet/keys/key_words.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <fmt/format.h>

#include "optim/check.h"
#include "peer/fleet/keys/plain_keys.h"

namespace gv {
namespace {

/// Returns whether it is one word of a fleet file, such as "on-failure" or "crop+flip".
bool is_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-+_").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::all_of(text, plain);
}

}  // namespace

const PlainKey& word_key(std::string_view key) {
  const std::span<const PlainKey> rows = word_keys();
  const auto row = std::ranges::find(rows, key, &PlainKey::key);
  if (row != rows.end()) return *row;
  throw std::logic_error(fmt::format("{} has no row among those that take words", key));
}

std::vector<std::string> key_words(std::string_view key) {
  std::string takes = with_launchers(word_key(key).takes);
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
