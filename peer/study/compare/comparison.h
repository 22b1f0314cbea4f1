#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/record/runs/groups.h"
#include "peer/study/compare/statistics.h"
#include "peer/study/compare/target.h"

namespace gv {

/// Options of `compare`.
struct CompareOptions {
  std::optional<CompareTarget> target;  ///< none: the target of the files, if all agree
  std::vector<std::string> by;          ///< keys; each combination of their values is a section
};

/// The contenders that are compared with each other: those that have the same values of `by`.
struct Section {
  std::vector<std::pair<std::string, std::string>> by;
  std::vector<Contender> contenders;  ///< best first
  std::vector<bool> pareto;           ///< whether not dominated in (seconds, bytes)
  std::vector<PairResult> pairs;      ///< all pairs, in the measure of the comparison
};

/// Everything that the reports show.
struct Comparison {
  RunTable table;
  std::vector<std::string> by;  ///< the columns selected by CompareOptions::by
  std::optional<CompareTarget> target;
  Measure measure = Measure::time;  ///< measure by which contenders are ordered
  std::size_t seeds_least = 0, seeds_most = 0;
  double resolution = 0;           ///< widest gap between two evaluations around the target, rounds
  double coarseness = 0;           ///< widest such gap as a fraction of the rounds to the target
  std::size_t at_once = 0;         ///< runs that had reached the target at their first evaluation
  std::vector<Section> sections;   ///< sections won by a centralized method first, then by `by`
  std::vector<std::string> notes;  ///< sentences that hold for all sections
};

/// Compares `runs`, which must outlive the result. Throws std::invalid_argument if they cannot be
/// compared: there are none, data or models differ, or no run reaches the target.
Comparison compare_runs(const std::vector<StoredRun>& runs, const CompareOptions& options);
Comparison compare_runs(std::vector<StoredRun>&& runs, const CompareOptions& options) = delete;

/// "network.latency 5 ms, network.bandwidth 100 Mbit"; empty for a section without `by`.
std::string name_of(const Section& section);

/// Returns for each pair of costs whether no other pair dominates it, that is, costs at most as
/// much in both and less in one. Costs that are not finite are dominated by every finite pair.
std::vector<bool> not_dominated(const std::vector<std::pair<double, double>>& costs);

}  // namespace gv
