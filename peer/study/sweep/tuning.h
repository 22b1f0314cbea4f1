#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "peer/study/sweep/points.h"
#include "peer/study/sweep/sweep_file.h"

namespace gv {

/// The score of a tuning trial, or of a point of them over its seeds. Less is better.
struct TrialScore {
  static constexpr double never = std::numeric_limits<double>::infinity();
  double cost = never;  ///< rounds, or seconds, to the target
  double last = never;  ///< loss at the end; of an accuracy what it lacks to its target, or to 1
  bool errs = false;    ///< `last` is what an accuracy lacks
  bool before(const TrialScore& other) const {
    return cost != other.cost ? cost < other.cost : last < other.last;
  }
};

/// Returns what the trial in this folder cost: at the first evaluation at the target, interpolated
/// from the one before. `by_rounds`: rounds, else seconds. Without a target its end counts: what
/// its accuracy lacks to 1, where it has one, or else its loss. Throws std::runtime_error.
TrialScore score_of(const std::string& folder,
                    const std::optional<TargetSpec>& target,
                    bool by_rounds);

/// The median over the tuning seeds of one point; of an even number the mean of the middle two.
TrialScore median_score(std::vector<TrialScore> scores);

/// Points, best first; of equal ones the earlier point. So the order in which trials end changes
/// nothing.
std::vector<std::size_t> ranking(const std::vector<TrialScore>& scores);

/// A best value that is the first or the last of at least three numbers that were tried.
struct TuningEdge {
  std::string key;
  bool largest = true;
  std::string words;    ///< "lr 0.3 is the largest tried"
  bool listed = false;  ///< of a list, which --extend does not widen
};
std::vector<TuningEdge> edges_of(const std::vector<TuningKnob>& knobs,
                                 const std::vector<std::vector<std::string>>& tried,
                                 std::size_t best);

/// The ranges' new parts, beyond these edges: half as wide again as in the sweep file. Lists have
/// none.
KnobRanges beyond(const std::vector<TuningEdge>& edges,
                  const std::vector<TuningKnob>& knobs,
                  const std::vector<KnobRanges>& before);

}  // namespace gv
