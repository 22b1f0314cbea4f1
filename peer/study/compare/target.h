#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/specs.h"
#include "peer/record/runs/groups.h"
#include "peer/record/runs/stored_run.h"

namespace gv {

/// The target at which a run counts as having arrived.
using CompareTarget = TargetSpec;

/// "accuracy=0.88", "accuracy=88%", "accuracy.worst=0.88", "loss=0.3", "loss.local=0.3", of
/// agents "return=475", "return.local=475"; behind each " for 2": so many evaluations in a row.
/// Throws std::invalid_argument.
CompareTarget parse_target(const std::string& text);
/// The target that every file names (`stop.target`), or every sweep; nothing where they do not
/// agree.
std::optional<CompareTarget> target_in_files(const std::vector<StoredRun>& runs);

/// The cost of a run until it got somewhere.
struct RunCost {
  double rounds = 0, seconds = 0, bytes = 0;
  std::optional<double> samples, epochs;
  std::optional<ActivitySeconds> states;
  double resolution = 0;  ///< rounds between the two evaluations around it; 0: it was the first
};

/// Returns the cost at the first evaluation that reaches the target (the first of a row, where
/// several have to), interpolated from the one before it along the figure; of a first evaluation
/// that is there already, its own. Nothing for a run that misses it.
std::optional<RunCost> cost_of(const StoredRun& run, const CompareTarget& target);
/// Returns the cost of the whole run.
RunCost cost_of(const MetricsRow& e);

/// The figure of the target, of a return minus it; nothing where it was not measured, or is not
/// finite.
std::optional<double> figure_of(const MetricsRow& e, const CompareTarget& target);
/// The best that the run ever had.
std::optional<double> best_of(const StoredRun& run, const CompareTarget& target);

/// The measures that may be compared: what it cost to get to the target (or to the end, where there
/// is none), and what the models were at the end.
enum class Measure : std::uint8_t {
  time,
  bytes,
  rounds,
  samples,
  cpu,
  memory,
  accuracy,
  loss,
  energy,    ///< joules of the machine, of the whole run
  repeated,  ///< bytes that were sent again, of the whole run
  returned,  ///< the mean reward of an episode, of agents
};

/// Reads a measure as `--columns` and `--expect` spell it; any other word: std::invalid_argument.
Measure measure_named(const std::string& name);
std::string_view name_of(Measure measure);
/// Returns whether more of it is better.
bool is_gain(Measure measure);

/// A run of a group, and what it cost.
struct SeedRun {
  const StoredRun* run = nullptr;
  std::optional<RunCost> cost;   ///< nothing: the target was missed
  std::optional<RunCost> worst;  ///< where its worst local model got there, of an accuracy
};

/// A group that takes part in a comparison.
struct Contender {
  const RunGroup* group = nullptr;
  std::string label;
  bool centralized = false;      ///< its method has a server, or sums over everybody
  std::vector<SeedRun> entries;  ///< by seed
  std::size_t reached() const;
  bool always() const { return reached() == entries.size(); }
};

/// Returns the group with its costs: without a target they are those of the whole run.
Contender make_contender(const RunTable& table,
                         const RunGroup& group,
                         const std::optional<CompareTarget>& target,
                         const std::vector<std::string>& by);

/// Returns nothing where the run missed the target or did not record it.
std::optional<double> measured(const SeedRun& entry, Measure measure);

/// The mean over the seeds with its interval: geometric, of logarithms, where all values are
/// positive and the measure is no gain. Nothing unless every seed has a value.
struct MeasureSummary {
  double mean = 0;
  std::optional<double> low, high;  ///< from 3 seeds on
};
std::optional<MeasureSummary> summary_of(const Contender& contender, Measure measure);

/// Seconds of one round and one peer in each state, over all seeds; nothing where not recorded.
std::optional<ActivitySeconds> round_states(const Contender& contender);

}  // namespace gv
