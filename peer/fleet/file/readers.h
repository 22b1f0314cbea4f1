#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peer/fleet/file/value.h"
#include "peer/fleet/keys/key_ranges.h"
#include "peer/fleet/keys/key_words.h"

namespace gv {

/// Assigns when the key is there and readable.
template <class Target, class Read>
void set(const Value* value, Target& target, Read read) {
  if (value == nullptr) return;
  if (auto got = read(*value)) target = static_cast<Target>(*got);
}

/// Reads a whole number in the range of the key's row (peer/fleet/keys).
inline std::optional<std::uint64_t> read_count(Source& source,
                                               const Value& value,
                                               std::string_view key) {
  const KeyRange& range = key_range(key);
  return read_count(source,
                    value,
                    static_cast<std::uint64_t>(range.least),
                    static_cast<std::uint64_t>(range.most));
}

/// The scalar readers of value.h, bound to one source, for `set`.
class Readers {
 protected:
  explicit Readers(Source& source) : source_(source) {}

  auto word() {
    return [this](const Value& v) { return read_word(source_, v); };
  }
  auto flag() {
    return [this](const Value& v) { return read_bool(source_, v); };
  }
  auto duration() {
    return [this](const Value& v) { return read_duration(source_, v); };
  }
  auto count(std::uint64_t least, std::uint64_t most) {
    return [=, this](const Value& v) { return read_count(source_, v, least, most); };
  }
  auto number(double least, double most) {
    return [=, this](const Value& v) { return read_number(source_, v, least, most); };
  }
  /// These take the range from the key's row (peer/fleet/keys).
  auto count(std::string_view key) {
    const KeyRange& range = key_range(key);
    return count(static_cast<std::uint64_t>(range.least), static_cast<std::uint64_t>(range.most));
  }
  auto number(std::string_view key) {
    const KeyRange& range = key_range(key);
    return number(range.least, range.most);
  }
  auto choice(std::vector<std::string> choices) {
    return [this, choices = std::move(choices)](const Value& v) {
      return read_choice(source_, v, choices);
    };
  }
  /// One of the words of the key's row (peer/fleet/keys).
  auto choice_of(std::string_view key) { return choice(key_words(key)); }
  auto fraction() {
    return [this](const Value& v) { return read_fraction(source_, v); };
  }

  Source& source_;
};

}  // namespace gv
