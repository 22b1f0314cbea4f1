#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/world.h"
#include "peer/fleet/file/source.h"

namespace gv {

/// Strict scalar readers. Each returns nothing and reports when the text is not what is asked for.
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
/// Reads a list such as [1, 0.5]; [1] where it is none, and 1 for each item that is no such number.
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

/// Reads the keys of one map and reports those that nobody asked for.
class MapReader {
 public:
  /// `value` may be null: then every key is absent. A bare word is short for { kind: word } when
  /// `short_kind`.
  MapReader(Source& source, const Value* value, std::string path, bool short_kind = false);
  /// Returns the value of a key, null if the map does not have it. `usual` is the word for what a
  /// file without the key means, such as `none`: a file may say it, and null comes then, too.
  const Value* take(const std::string& key, std::string_view usual = {});
  /// Reports unknown keys, with the nearest known one. Keys that begin with `x-` are the user's
  /// own.
  void finish();
  bool present() const { return value_ != nullptr; }
  Source& source() { return source_; }

 private:
  Source& source_;
  const Value* value_;
  Value expanded_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace gv
