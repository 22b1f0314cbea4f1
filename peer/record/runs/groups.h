#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/record/runs/stored_run.h"

namespace gv {

/// Runs that differ only in their seed.
struct RunGroup {
  std::map<std::string, std::string> keys;  ///< keys that they share, without the seed
  std::vector<std::string> values;          ///< values of RunTable::columns; "" if a key is missing
  std::vector<const StoredRun*> runs;       ///< runs by seed, each seed once
};

/// Groups of runs, ordered by their values.
struct RunTable {
  std::vector<std::string> columns;  ///< keys that distinguish the groups, or a sweep's axes
  std::vector<std::string> others;   ///< other keys that differ, not needed to distinguish them
  std::vector<RunGroup> groups;
  std::vector<std::string> notes;  ///< omissions, as sentences
};

/// Returns whether a key describes the run itself, unlike its seed, names, folders or way of
/// launch.
bool tells_runs_apart(const std::string& key);

/// Groups `runs`, which must outlive the table and may come in any order. Of two runs with the same
/// keys and seed the later one counts.
RunTable group_runs(const std::vector<StoredRun>& runs);

/// Returns the columns that `name` stands for: an axis, a key, or a prefix of keys ("network"),
/// even of keys that do not differ. Throws std::invalid_argument that lists the possible names.
std::vector<std::string> columns_named(const RunTable& table, const std::string& name);

/// Returns the group's value of a column of `columns_named`, or "" if it has none.
std::string value_of(const RunGroup& group, const std::string& column);

/// Returns a label for the group: its values without those of `but`, "d-psgd ring". Before a number
/// or a flag stands its key's last word: "lr 0.05".
std::string label_of(const RunTable& table,
                     const RunGroup& group,
                     const std::vector<std::string>& but = {});

/// Axis of a curve, and the figure that it shows.
enum class CurveAxis : std::uint8_t { rounds, seconds, bytes, epochs, frames };
enum class CurveFigure : std::uint8_t {
  accuracy,
  worst_accuracy,
  loss,
  local_loss,
  consensus,
  mean_return,  ///< agents: return of the mean model
  local_return,
};

/// The seeds of a group at one place: least, mean and greatest value, and standard deviation (n -
/// 1).
struct CurvePoint {
  double at = 0, least = 0, mean = 0, most = 0, deviation = 0;
};

/// Returns a group's curve from the place where every seed has a value: a point at each seed's
/// evaluations, the others interpolated, or `most` even points if there would be more. A seed that
/// ended keeps its last value to the end. Empty if the figure or the axis was not recorded.
std::vector<CurvePoint> curve_of(const RunGroup& group,
                                 CurveAxis axis,
                                 CurveFigure figure,
                                 std::size_t most = 2000);

/// Returns the value of one evaluation, or nothing if it was not recorded or is not finite.
std::optional<double> along(const MetricsRow& e, CurveAxis axis);
std::optional<double> shown(const MetricsRow& e, CurveFigure figure);

/// Returns the seconds by which runs are compared: without evaluations and checkpoints if recorded.
double clock_of(const MetricsRow& e);

}  // namespace gv
