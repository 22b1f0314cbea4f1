#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/specs.h"
#include "peer/record/runs/groups.h"
#include "peer/record/runs/stored_run.h"

namespace gv {

/// The target that a run must reach.
using CompareTarget = TargetSpec;

/// Parses "accuracy=0.88", "accuracy=88%", "accuracy.worst=0.88", "loss=0.3", "loss.local=0.3", for
/// agents "return=475", "return.local=475". A suffix " for 2" demands two evaluations in a row.
/// Throws std::invalid_argument.
CompareTarget parse_target(const std::string& text);
/// Returns the target on which all files (`stop.target`) or all sweeps agree, else nothing.
std::optional<CompareTarget> target_in_files(const std::vector<StoredRun>& runs);

/// The cost of a run up to some point.
struct RunCost {
  double rounds = 0, seconds = 0, bytes = 0;
  std::optional<double> samples, epochs;
  std::optional<ActivitySeconds> states;
  double resolution = 0;  ///< rounds between the evaluations around it; 0 if it was the first
};

/// Returns the cost at the first evaluation that reaches the target (the first in a row, if several
/// must), interpolated along the figure from the previous evaluation. If the first evaluation of
/// all reaches the target, its own cost counts. Returns nothing if the run misses the target.
std::optional<RunCost> cost_of(const StoredRun& run, const CompareTarget& target);
/// Returns the cost of the whole run.
RunCost cost_of(const MetricsRow& e);

/// Returns the figure that the target is about (minus the return for a return), or nothing if it
/// was not measured or is not finite.
std::optional<double> figure_of(const MetricsRow& e, const CompareTarget& target);
/// Returns the best figure that the run ever had.
std::optional<double> best_of(const StoredRun& run, const CompareTarget& target);

/// Measures that can be compared: costs up to the target (to the end if there is no target), and
/// the final models' figures.
enum class Measure : std::uint8_t {
  time,
  bytes,
  rounds,
  samples,
  cpu,
  memory,
  accuracy,
  loss,
  repeated,  ///< bytes retransmitted in the whole run
  returned,  ///< mean reward per episode, for agents
};

/// Reads a measure as `--columns` and `--expect` spell it. Throws std::invalid_argument otherwise.
Measure measure_named(const std::string& name);
std::string_view name_of(Measure measure);
/// Returns whether more is better.
bool is_gain(Measure measure);

/// A run of a group, with its cost.
struct SeedRun {
  const StoredRun* run = nullptr;
  std::optional<RunCost> cost;   ///< none if the target was missed
  std::optional<RunCost> worst;  ///< cost until the worst local model reached an accuracy
};

/// A group in a comparison.
struct Contender {
  const RunGroup* group = nullptr;
  std::string label;
  bool centralized = false;      ///< its method has a server, or sums over all peers
  std::vector<SeedRun> entries;  ///< by seed
  std::size_t reached() const;
  bool always() const { return reached() == entries.size(); }
};

/// Returns the group with its costs, which without a target are those of the whole run.
Contender make_contender(const RunTable& table,
                         const RunGroup& group,
                         const std::optional<CompareTarget>& target,
                         const std::vector<std::string>& by);

/// Returns nothing if the run missed the target or did not record the measure.
std::optional<double> measured(const SeedRun& entry, Measure measure);

/// The mean over the seeds with its interval; geometric if all values are positive and more is not
/// better. Exists only if every seed has a value.
struct MeasureSummary {
  double mean = 0;
  std::optional<double> low, high;  ///< from 3 seeds on
};
std::optional<MeasureSummary> summary_of(const Contender& contender, Measure measure);

/// Returns seconds per round and peer in each state, over all seeds; nothing if not recorded.
std::optional<ActivitySeconds> round_states(const Contender& contender);

}  // namespace gv
