#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "gossip/seam/world.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/keys/key_words.h"

namespace gv {

/// Strict scalar readers. Each reports an error and returns nothing if the text has another form.
std::optional<double> read_number(Source& source, const Value& value, double least, double most);
std::optional<std::uint64_t> read_count(Source& source,
                                        const Value& value,
                                        std::uint64_t least,
                                        std::uint64_t most);
std::optional<bool> read_bool(Source& source, const Value& value);
std::optional<std::string> read_word(Source& source, const Value& value);
std::optional<std::string> read_choice(Source& source,
                                       const Value& value,
                                       const std::vector<std::string>& choices);
/// Reads a list such as [1, 0.5]. Returns [1] if it is no list, and 1 for each invalid item.
std::vector<double> read_numbers(Source& source, const Value& list, double least, double most);
std::optional<double> read_fraction(Source& source, const Value& value);  ///< `5 %` or `0.05`
std::optional<Time> read_duration(Source& source,
                                  const Value& value);  ///< `5 ms`, `1.5 s`, `10 min`, `1 h`
std::optional<double> read_bandwidth(Source& source,
                                     const Value& value);  ///< bytes per second; `unlimited` is 0
std::optional<double> read_flops(Source& source, const Value& value);  ///< `50 GFLOP/s`
/// A count with its unit: `100 rounds`, `2 epochs`.
struct Every {
  double count;
  std::string unit;  ///< singular: round, epoch, step
};
std::optional<Every> read_every(Source& source,
                                const Value& value,
                                const std::vector<std::string>& units);

// Files and folders that a fleet file or a command names. These functions never throw, even if a
// name is too long, a link to itself, below a file, or in an inaccessible folder.

/// Returns the path with the home folder instead of a leading `~`, as in a shell: HOME, or else the
/// folder of the user's account. Unchanged if neither is known.
std::string with_home(const std::string& path);

/// Returns the path that a value names, relative to the fleet file's folder. Reports an error and
/// returns "" if the value is no path.
std::string read_path(Source& source, const Value& value, const std::filesystem::path& folder);

/// Returns "" if the path is a regular file; otherwise the path and the system's error, if any.
std::string no_file(const std::string& path);
/// Returns "" if the path is a folder; otherwise as no_file().
std::string no_folder(const std::string& path);

/// Assigns the value if the key is present and readable.
template <class Target, class Read>
void set(const Value* value, Target& target, Read read) {
  if (value == nullptr) return;
  if (auto got = read(*value)) target = static_cast<Target>(*got);
}

// Read a number within the range of the key's row (peer/fleet/keys).
std::optional<std::uint64_t> read_count(Source& source, const Value& value, std::string_view key);
std::optional<double> read_number(Source& source, const Value& value, std::string_view key);

/// Reads a key by the type of its target: true or false, a duration, any word, or a number or whole
/// number within the range of the key's row. Changes nothing if `value` is null or refused.
template <class Target>
void read_key(Source& source, const Value* value, const std::string& key, Target& target) {
  set(value, target, [&](const Value& v) {
    if constexpr (std::is_same_v<Target, bool>)
      return read_bool(source, v);
    else if constexpr (std::is_same_v<Target, Time>)
      return read_duration(source, v);
    else if constexpr (std::is_same_v<Target, std::string>)
      return read_word(source, v);
    else if constexpr (std::is_floating_point_v<Target>)
      return read_number(source, v, key);
    else
      return read_count(source, v, key);
  });
}

/// Reads one of the words of the key's row: as a text, or by the word's index as an enum or a bool,
/// whose values have the order of the words. Changes nothing if `value` is null or refused.
template <class Target>
void choose_key(Source& source, const Value* value, const std::string& key, Target& target) {
  if (value == nullptr) return;
  const std::vector<std::string> words = key_words(key);
  const auto word = read_choice(source, *value, words);
  if (!word) return;
  if constexpr (std::is_same_v<Target, std::string>)
    target = *word;
  else
    target = static_cast<Target>(std::find(words.begin(), words.end(), *word) - words.begin());
}

/// Reads the keys of one map and reports unknown ones.
class MapReader {
 public:
  /// `value` may be null: every key is then absent. With `short_kind`, a bare word is short for {
  /// kind: word }.
  MapReader(Source& source, const Value* value, std::string path, bool short_kind = false);
  /// Returns the value of a key, or null if the map lacks it. `usual`: a word for the default, such
  /// as `none`, that the file may write; the result is null then too.
  const Value* take(const std::string& key, std::string_view usual = {});
  /// Reads a key by the type of its target, see read_key(). Returns its value as take() does.
  template <class Target>
  const Value* read(const std::string& key, Target& target) {
    const Value* const value = take(key);
    read_key(source_, value, path_ + "." + key, target);
    return value;
  }
  /// Reads one of the words of the key's row, see choose_key(). Returns its value as take() does.
  template <class Target>
  const Value* choose(const std::string& key, Target& target) {
    const Value* const value = take(key);
    choose_key(source_, value, path_ + "." + key, target);
    return value;
  }
  /// Reports unknown keys, with the nearest known one. Keys that begin with `x-` are left to the
  /// user.
  void finish();
  bool present() const { return value_ != nullptr; }
  Source& source() { return source_; }

 private:
  std::string help_for(const std::string& unknown) const;

  Source& source_;
  const Value* value_;
  Value expanded_;
  std::string path_;
  std::vector<std::string> known_;
};

/// The scalar readers above, bound to one source, for `set`.
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
  /// Take the range from the key's row (peer/fleet/keys).
  auto count(std::string_view key) {
    return [=, this](const Value& v) { return read_count(source_, v, key); };
  }
  auto number(std::string_view key) {
    return [=, this](const Value& v) { return read_number(source_, v, key); };
  }
  auto choice(std::vector<std::string> choices) {
    return [this, choices = std::move(choices)](const Value& v) {
      return read_choice(source_, v, choices);
    };
  }
  auto fraction() {
    return [this](const Value& v) { return read_fraction(source_, v); };
  }

  Source& source_;
};

}  // namespace gv
