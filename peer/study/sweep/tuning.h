#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/study/sweep/sweep_file.h"

namespace gv {

/// The point at which a tuning trial stands: a value for each knob, in their order. Where it is
/// empty, the values are the base file's own: trial 0, but of a grid.
using TuningPoint = std::vector<SweepSet>;

/// Returns those of the knobs that are tuned where a cell has these labels.
std::vector<TuningKnob> knobs_of(const TuningSpec& tune,
                                 const std::map<std::string, std::string>& labels);

/// The value of a knob at u in [0, 1): the same for every machine that has our libm.
std::string value_at(const TuningKnob& knob, double u);

/// Element `index` of the Halton sequence in the prime base: its digits mirrored at the point.
/// Halton, "On the efficiency of certain quasi-random sequences of points in evaluating
/// multi-dimensional integrals", Numerische Mathematik 2, 1960. Points of it that follow fill the
/// holes of those before, so that more trials extend fewer.
double radical_inverse(std::uint64_t index, std::uint64_t base);

/// The points of a family's tuning, `tune.trials` of them whatever the knobs: equal budgets for all
/// methods. Nothing without a knob. `grid` has each combination once, of all values of each list
/// and of as many even steps of each range as there is room for; it neither adds the base file's
/// own values nor fills up what is left.
std::vector<TuningPoint> points_of(const TuningSpec& tune, const std::vector<TuningKnob>& knobs);

/// The new part of each range that was widened, by its key.
using KnobRanges = std::map<std::string, std::pair<double, double>>;
/// Half as many points as `tune.trials` with these knobs in their new parts, for every method
/// alike.
std::vector<TuningPoint> points_of(const TuningSpec& tune,
                                   const std::vector<TuningKnob>& knobs,
                                   const KnobRanges& extension);

/// The number of `trials` points that are in each rung of successive halving, and the part of a
/// whole training that each gets there: a third of the points, three times the rounds (Jamieson &
/// Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS
/// 2016, arXiv:1502.07943, with eta = 3). Without rungs one has them all, in full. `asha` has the
/// same, as a rule: who is early may be promoted before those who would have been better.
struct TuningRung {
  std::size_t points = 0;
  double fraction = 1;
};
inline constexpr std::size_t promoted_of = 3;  ///< eta: one of so many goes on to the next rung
std::vector<TuningRung> rungs_of(const TuningSpec& tune, std::size_t trials);

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
