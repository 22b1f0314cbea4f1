#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/best_graphs.h"
#include "graph/predict/quadratic.h"
#include "graph/predict/transient.h"
#include "graph/schedule/schedule.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/predict/forecast/expectation.h"

namespace gv {

/// The predictor's view of a fleet that fits `data: linear` with `model: linear`: features from
/// N(0, I), and a bias with the value 1 in every sample. Losses are excess losses above the
/// irreducible loss, noise / 2.
struct RegressionProblem {
  RegressionFleet fleet;
  std::vector<double> optimum;  ///< x* for the features, 0 for the bias

  double least_loss() const { return fleet.noise / 2; }
};

/// Returns nothing if the theory does not apply: the cases of quadratic_problem, momentum, several
/// local steps, a partition other than iid, batches of different sizes, or enough rounds for a peer
/// to see a sample twice.
std::optional<RegressionProblem> regression_problem(const Assembly& fleet);

/// Returns whether every row of each W has the same weights in some order, or random rounds treat
/// all peers alike: then the noise is the same at all peers, or nearly.
bool peers_alike(const MixingSchedule& schedule);

/// The averaging of a graph or schedule, for predictions: by its modes, or by following the
/// sequence itself if its matrices share no modes.
class MixingLaw {
 public:
  /// For one W: uses all modes if they cost little; none for a directed W that is not normal.
  MixingLaw(const MixingMatrix& w, const TopologySpec& spec, std::string_view weights);
  /// For a W in every round. `most_work`: maximum multiplications for one prediction if the
  /// sequence is followed.
  MixingLaw(const ScheduleSpec& spec,
            std::shared_ptr<const MixingSchedule> sequence,
            double most_work);

  // Each returns nothing if the value is unknown or takes too much work.
  std::optional<double> left_after(std::uint64_t rounds) const;  ///< random disagreement
  std::optional<Estimate> n_eff(double discount) const;
  std::optional<Stationary> settled(const QuadraticProblem& problem) const;
  std::optional<Stationary> settled(const RegressionFleet& fleet) const;
  std::optional<Stationary> after(const RegressionProblem& problem, std::uint64_t rounds) const;
  std::optional<Stationary> start(const QuadraticProblem& problem) const;
  /// For schedules that are followed, see schedule_stable_rates.
  std::optional<StableRates> stable_rates(const QuadraticProblem& problem) const;
  /// Infinite if the target is never reached.
  std::optional<double> rounds_to(const QuadraticProblem& problem, double target) const;

 private:
  bool by_modes(const QuadraticFleet& fleet) const;
  bool by_steps(const QuadraticFleet& fleet) const;
  std::optional<double> walk_to(const QuadraticProblem& problem, double target) const;

  std::optional<Modes> modes_;
  std::shared_ptr<const MixingSchedule> sequence_;  ///< null if it is not followed
  double most_work_ = 0;
};

/// The criterion by which `graph best` orders graphs.
struct GraphGoal {
  std::optional<QuadraticFleet> fleet;  ///< none: only averaging counts
  std::optional<double> target;         ///< local models' excess loss to reach
  double start = 1;                     ///< x_0 in every coordinate; used with a target

  /// "rounds_to_thousandth" | "excess_loss_local" | "rounds_to_target"
  std::string measure() const;
};

/// Returns why a fleet whose method has this order (quadratic_orders()) cannot run on W; empty if
/// it can.
std::string refusal_of_order(const std::string& order, const MixingMatrix& w);

/// Returns a score; smaller is better. Infinite if the fleet diverges, never reaches the target or
/// is refused, or if the theory does not apply. Throws std::invalid_argument for an unknown order.
double score_of(const GraphCandidate& c, PeerId peers, const GraphGoal& goal);

/// Returns one line with the reason why the first of `found` (best first) is the best.
std::string reason_of(const std::vector<GraphCandidate>& found, const GraphGoal& goal);

}  // namespace gv
