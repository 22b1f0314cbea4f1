#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/record/runs/groups.h"
#include "peer/study/compare/statistics.h"
#include "peer/study/compare/target.h"

namespace gv {

/// The questions that are asked of some runs.
struct CompareOptions {
  std::optional<CompareTarget> target;  ///< none: the files', where all name the same
  std::vector<std::string> by;          ///< keys whose values are told apart, each a section
  bool trust = false;  ///< maps: fleet files that the runs name may load their plug-ins
};

/// The contenders that are compared with each other: those with the same values of `by`.
struct Section {
  std::vector<std::pair<std::string, std::string>> by;
  std::vector<Contender> contenders;  ///< the best first
  std::vector<bool> pareto;           ///< not dominated in (seconds, bytes)
  std::vector<PairResult> pairs;      ///< of all, in the measure of the comparison
};

/// Everything that the screens show.
struct Comparison {
  RunTable table;
  std::vector<std::string> by;  ///< the keys that CompareOptions::by meant
  std::optional<CompareTarget> target;
  Measure measure = Measure::time;  ///< by which contenders are ordered
  std::size_t seeds_least = 0, seeds_most = 0;
  double resolution = 0;           ///< rounds: the widest gap between two evaluations at the target
  double coarseness = 0;           ///< the widest such gap, as a part of the rounds to the target
  std::size_t at_once = 0;         ///< runs that were there at their first evaluation
  std::vector<Section> sections;   ///< those that a centralized method wins first, then by `by`
  std::vector<std::string> notes;  ///< sentences that hold for all
};

/// Compares `runs`, which must outlive the result. Throws std::invalid_argument where they cannot
/// be compared: none, different data or models, or a target that none of them reaches.
Comparison compare_runs(const std::vector<StoredRun>& runs, const CompareOptions& options);

/// "network.latency 5 ms, network.bandwidth 100 Mbit"; "" where nothing was asked.
std::string name_of(const Section& section);

/// Tells which of these pairs of costs no other one dominates: none is at most as dear in both and
/// cheaper in one. Costs that are not finite are dominated by every finite pair.
std::vector<bool> not_dominated(const std::vector<std::pair<double, double>>& costs);

}  // namespace gv
