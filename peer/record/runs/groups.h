#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/record/runs/stored_run.h"

namespace gv {

/// Runs that differ in their seed alone.
struct RunGroup {
  std::map<std::string, std::string> keys;  ///< what they have in common, without the seed
  std::vector<std::string> values;          ///< of RunTable::columns; "" where a key is missing
  std::vector<const StoredRun*> runs;       ///< by seed, each seed once
};

/// All groups, ordered by their values.
struct RunTable {
  std::vector<std::string> columns;  ///< the keys that tell the groups apart, or a sweep's axes
  std::vector<std::string> others;   ///< keys that differ as well, and are not needed for that
  std::vector<RunGroup> groups;
  std::vector<std::string> notes;  ///< what was left out, in sentences
};

/// Returns whether a key is part of what a run is: not its seed, names, folders, or way of launch.
bool tells_runs_apart(const std::string& key);

/// Groups what `runs` says; they must outlive the table. Of two runs with the same keys and seed
/// the later one counts. The order of `runs` changes nothing.
RunTable group_runs(const std::vector<StoredRun>& runs);

/// The columns that `name` means: an axis, a key, or the beginning of keys ("network"). Keys count
/// that do not differ among these runs. Throws std::invalid_argument with what there is.
std::vector<std::string> columns_named(const RunTable& table, const std::string& name);

/// The group's value of a column of `columns_named`; "" when it has none.
std::string value_of(const RunGroup& group, const std::string& column);

/// Returns what people call the group: its values without those of `but`, "d-psgd ring". A number
/// or a flag comes with its key's last word: "lr 0.05".
std::string label_of(const RunTable& table,
                     const RunGroup& group,
                     const std::vector<std::string>& but = {});

/// The axis that a curve goes along, and the figure that it shows.
enum class CurveAxis : std::uint8_t { rounds, seconds, bytes, epochs, frames };
enum class CurveFigure : std::uint8_t {
  accuracy,
  worst_accuracy,
  loss,
  local_loss,
  consensus,
  mean_return,  ///< of the mean model, of an agent
  local_return,
};

/// The seeds of a group at one place: least, mean and most, and their deviation from the mean
/// (n - 1).
struct CurvePoint {
  double at = 0, least = 0, mean = 0, most = 0, deviation = 0;
};

/// A group's curve: a point at every evaluation of any seed from where every seed has a value,
/// interpolated between its evaluations; evenly along the axis where these would be more than
/// `most`. A seed that has ended keeps what it ended with until the last one has: where a target
/// ends runs, the curve gets there. Empty where nobody recorded the figure or the axis.
std::vector<CurvePoint> curve_of(const RunGroup& group,
                                 CurveAxis axis,
                                 CurveFigure figure,
                                 std::size_t most = 2000);

/// Reads one evaluation; nothing where it was not recorded, or is not finite.
std::optional<double> along(const MetricsRow& e, CurveAxis axis);
std::optional<double> shown(const MetricsRow& e, CurveFigure figure);

/// The clock by which runs are compared: without evaluations and checkpoints where it was kept.
double clock_of(const MetricsRow& e);

}  // namespace gv
