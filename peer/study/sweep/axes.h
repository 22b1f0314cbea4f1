#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/study/sweep/sweep_file.h"

namespace gv {

/// One combination of the axes' values.
struct SweepCell {
  std::map<std::string, std::string> labels;  ///< by axis
  std::vector<SweepSet> sets;                 ///< in the order of the axes
};

inline constexpr std::size_t most_sweep_cells = 4096;

/// A key that is varied or tuned is a path, and not one that the sweep itself gives.
void check_sweep_key(Source& source, const std::string& key, const Place& place);
/// Returns what a patch of the fleet file sets: its leaves, one `--set` each; what names its `kind`
/// stands instead of the whole map, so that nothing of another kind stays behind.
std::vector<SweepSet> sets_of(Source& source, const Value& patch);
/// The value as it is given to --set: in YAML's flow style, on one line.
std::string flow_text(const Value& value);

/// Reads `vary`. Two axes that set one key are a problem.
std::vector<SweepAxis> read_axes(Source& source, const Value* vary);
/// Reads { axis: label or [labels] }, which name what `axes` have.
CellPattern read_pattern(Source& source, const Value& value, const std::vector<SweepAxis>& axes);

/// The product of the axes without what `skip` means, the last axis changing fastest. Nothing when
/// there are too many.
std::optional<std::vector<SweepCell>> cells_of(const std::vector<SweepAxis>& axes,
                                               const std::vector<CellPattern>& skip);

}  // namespace gv
