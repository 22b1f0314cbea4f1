#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/data/data_spec.h"
#include "peer/fleet/file/value.h"

namespace gv {

/// Reads `data` (null: the digits) for `peers` peers. Paths are taken relative to `folder`.
/// Problems become diagnostics of `source`, at `value` or else at `root`; `notices` may be null.
DataSpec read_data(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   PeerId peers,
                   std::vector<std::string>* notices);

/// Reads `data` of a program, which has samples of its own: how many, and how they are divided.
DataSpec read_program_data(Source& source, const Value* value, PeerId peers);

/// The map under `data` as a kind reads it. Problems become diagnostics of `source`, and the value
/// is then the usual one or "".
struct DataReading {
  Source& source;
  MapReader& map;
  const Value& at;                      ///< `data`, or the whole file where it has none
  const std::filesystem::path& folder;  ///< in which paths begin
  PeerId peers;
  std::vector<std::string>* notices;  ///< not errors; may be null
  const DataKind& row;
  DataSpec& data;

  /// The number of this key of the row, in its range.
  double number(std::string_view key);
  std::uint32_t whole(std::string_view key);
  /// Reads it from what was taken for the key.
  double number(std::string_view key, const Value* value);
  /// Reads `train` and `test`, of drawn sets.
  void sizes();
  /// Reads `servers`, which hand out what samples or gradients there are.
  void servers();

  /// Returns the path that the value of a key names, which the kind needs; `help` says what it
  /// should be.
  std::string path(const Value* value, std::string_view key, const std::string& help);
};

/// The row of samples that a program of the user's own has, and no fleet file names: what the file
/// may say of them is how many there are, and how they are divided.
const DataKind& program_data();

}  // namespace gv
