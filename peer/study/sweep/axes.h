#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/study/sweep/sweep_file.h"

namespace gv {

/// One combination of values, one per axis.
struct SweepCell {
  std::map<std::string, std::string> labels;  ///< by axis
  std::vector<SweepSet> sets;                 ///< in the order of the axes
};

inline constexpr std::size_t most_sweep_cells = 4096;

/// Reports an error unless the key is a path that the sweep does not set itself.
void check_sweep_key(Source& source, const std::string& key, const Place& place);
/// Returns the settings of a patch of the fleet file, one `--set` per leaf. A map with a `kind` is
/// set as a whole, so that keys of another kind do not remain.
std::vector<SweepSet> sets_of(Source& source, const Value& patch);
/// Formats the value for --set: in YAML's flow style, on one line.
std::string flow_text(const Value& value);

/// Reads `vary`. It is an error if two axes set the same key.
std::vector<SweepAxis> read_axes(Source& source, const Value* vary);
/// Reads { axis: label or [labels] }, with names and labels of `axes`.
CellPattern read_pattern(Source& source, const Value& value, const std::vector<SweepAxis>& axes);

/// Returns the product of the axes without the cells that match `skip`; the last axis changes
/// fastest. Returns nothing if there are too many cells.
std::optional<std::vector<SweepCell>> cells_of(const std::vector<SweepAxis>& axes,
                                               const std::vector<CellPattern>& skip);

}  // namespace gv
