#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "peer/fleet/data/data_kind.h"
#include "peer/fleet/data/data_spec.h"
#include "peer/fleet/file/value.h"

namespace gv {

/// Reads `data` (null means the digits) for `peers` peers. Paths are relative to `folder`. Errors
/// become diagnostics of `source`, at `value` or else at `root`; `notices` may be null.
DataSpec read_data(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   PeerId peers,
                   std::vector<std::string>* notices);

/// Reads `data` of a program, which has its own samples: their number and how they are divided.
DataSpec read_program_data(Source& source, const Value* value, PeerId peers);

/// The map under `data`, for a kind's reader. Errors become diagnostics of `source`; the value is
/// then the default or "".
struct DataReading {
  Source& source;
  MapReader& map;
  const Value& at;                      ///< `data`, or the whole file if it has none
  const std::filesystem::path& folder;  ///< base of relative paths
  PeerId peers;
  std::vector<std::string>* notices;  ///< receives notices that are no errors; may be null
  const DataKind& row;
  DataSpec& data;

  /// Reads the value of a numeric key of the row, within its range.
  double number(std::string_view key);
  std::uint32_t whole(std::string_view key);
  /// Reads it from the value taken for the key.
  double number(std::string_view key, const Value* value);
  /// Reads `train` and `test`, the sizes of drawn sets.
  void sizes();
  /// Reads `servers`, which hand out samples or gradients.
  void servers();

  /// Reads a required path; `help` describes it if it is missing.
  std::string path(const Value* value, std::string_view key, const std::string& help);
};

/// Row of the samples of a user's program, which no fleet file names. The file may only state their
/// number and how they are divided.
const DataKind& program_data();

/// Reads the fraction of the training samples for the test set (`held_out`, between 0 and 1) into
/// `part`; reports an error if there is a separate set (`test`) too. Changes nothing without
/// `held_out`.
inline void read_held_out(Source& source, const Value* test, const Value* held_out, double& part) {
  if (held_out == nullptr) return;
  if (test != nullptr)
    source.error(*held_out, "`held_out` and `test` are two test sets", "take one of them");
  part = read_fraction(source, *held_out).value_or(part);
  if (part <= 0 || part >= 1)
    source.error(*held_out, "the held-out part must be between 0 and 1", "write `held_out: 20 %`");
}

/// Returns the row of `held_out` for the reference.
inline DataKey held_out_key() {
  return {.name = "held_out",
          .takes = "a fraction between 0 and 1, or percent",
          .usual = "20 %",
          .help = "part of the samples that becomes the test set, drawn by the seed",
          .example = "data: { kind: table, file: a.csv, target: y, held_out: 30 % }"};
}

}  // namespace gv
