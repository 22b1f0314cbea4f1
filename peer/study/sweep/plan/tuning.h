#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/study/sweep/plan/sweep_file.h"

namespace gv {

/// The values of a tuning trial: one for each knob, in their order. An empty point has the base
/// file's values; it is trial 0 except in a grid.
using TuningPoint = std::vector<SweepSet>;

/// Returns the knobs that are tuned in a cell with these labels.
std::vector<TuningKnob> knobs_of(const TuningSpec& tune,
                                 const std::map<std::string, std::string>& labels);

/// Returns the value of a knob at u in [0, 1), equal on all machines with the same libm.
std::string value_at(const TuningKnob& knob, double u);

/// Returns element `index` of the Halton sequence in a prime base: its digits mirrored at the
/// point. Halton, "On the efficiency of certain quasi-random sequences of points in evaluating
/// multi-dimensional integrals", Numerische Mathematik 2, 1960. Later points fill the gaps between
/// earlier ones, so that more trials extend fewer.
double radical_inverse(std::uint64_t index, std::uint64_t base);

/// Returns the points of a family's tuning: `tune.trials` points for any number of knobs, so that
/// all methods have equal budgets. None without a knob. `grid` has each combination once, of all
/// values of lists and of as many even steps of ranges as fit; it does not add the base file's
/// values or use up the remaining trials.
std::vector<TuningPoint> points_of(const TuningSpec& tune, const std::vector<TuningKnob>& knobs);

/// The new part of each widened range, by key.
using KnobRanges = std::map<std::string, std::pair<double, double>>;
/// Returns half of `tune.trials` points with these knobs in the new parts, for all methods alike.
std::vector<TuningPoint> points_of(const TuningSpec& tune,
                                   const std::vector<TuningKnob>& knobs,
                                   const KnobRanges& extension);

/// The number of points in each rung of successive halving, and the fraction of a training that
/// each gets there: a third of the points, three times the rounds (Jamieson & Talwalkar,
/// "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016,
/// arXiv:1502.07943, with eta = 3). Without rungs, a single one has all points in full. `asha`
/// usually has the same numbers, but early trials may be promoted before better ones are done.
struct TuningRung {
  std::size_t points = 0;
  double fraction = 1;
};
inline constexpr std::size_t promoted_of = 3;  ///< eta: one in this many is promoted
std::vector<TuningRung> rungs_of(const TuningSpec& tune, std::size_t trials);

/// The score of a tuning trial, or of a point over its seeds. Less is better.
struct TrialScore {
  static constexpr double never = std::numeric_limits<double>::infinity();
  double cost = never;  ///< rounds or seconds to the target
  double last = never;  ///< loss at the end; for an accuracy the distance to its target, or to 1
  bool errs = false;    ///< whether `last` is about an accuracy
  bool before(const TrialScore& other) const {
    return cost != other.cost ? cost < other.cost : last < other.last;
  }
};

/// Returns the trial's cost at the first evaluation at the target, interpolated from the previous
/// one. `by_rounds`: in rounds, else in seconds. Without a target, the end counts: 1 - accuracy if
/// there is one, otherwise the loss. Throws std::runtime_error.
TrialScore score_of(const std::string& folder,
                    const std::optional<TargetSpec>& target,
                    bool by_rounds);

/// Returns the median over the tuning seeds; for an even number, the mean of the middle two.
TrialScore median_score(const std::vector<TrialScore>& scores);

/// Returns the points, best first, and the earlier of equal points first. So the order in which
/// trials end does not matter.
std::vector<std::size_t> ranking(const std::vector<TrialScore>& scores);

/// A best value that is the smallest or largest of at least three numbers tried.
struct TuningEdge {
  std::string key;
  bool largest = true;
  std::string words;    ///< "lr 0.3 is the largest tried"
  bool listed = false;  ///< a list, which --extend does not widen
};
std::vector<TuningEdge> edges_of(const std::vector<TuningKnob>& knobs,
                                 const std::vector<std::vector<std::string>>& tried,
                                 std::size_t best);

/// Returns the new parts of ranges beyond these edges: half the width of the range in the sweep
/// file. Lists have none.
KnobRanges beyond(const std::vector<TuningEdge>& edges,
                  const std::vector<TuningKnob>& knobs,
                  const std::vector<KnobRanges>& before);

}  // namespace gv
