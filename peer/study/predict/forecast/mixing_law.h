#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/best_graphs.h"
#include "graph/predict/quadratic.h"
#include "graph/predict/regression.h"
#include "graph/schedule/schedule.h"
#include "peer/runtime/assembly.h"
#include "peer/study/predict/forecast/expectation.h"

namespace gv {

/// The predictor's view of a fleet that fits `data: linear` with `model: linear`: features from
/// N(0, I), and a bias that has the value 1 in every sample. Losses are excess losses; the loss
/// that nobody can go below is noise / 2.
struct RegressionProblem {
  RegressionFleet fleet;
  std::vector<double> optimum;  ///< x* of the features, 0 of the bias

  double least_loss() const { return fleet.noise / 2; }
};

/// Returns nothing where the theory does not apply: see quadratic_problem; momentum, several local
/// steps, another partition than iid, batches of different sizes, or so many rounds that a peer
/// sees a sample twice.
std::optional<RegressionProblem> regression_problem(const Assembly& fleet);

/// Returns whether every row of each W has the same weights in some order, or the rounds are drawn
/// without regard to the peer: then the noise is alike at all peers, or nearly so.
bool peers_alike(const MixingSchedule& schedule);

/// The way in which a graph or a schedule averages, as predictions ask for it: by its modes, or,
/// where its matrices share none, by following the sequence itself.
class MixingLaw {
 public:
  /// One W: all modes where they cost little; none for a directed W that is not normal.
  MixingLaw(const MixingMatrix& w, const TopologySpec& spec, std::string_view weights);
  /// A W for every round. `most_work`: multiplications that a question may cost where the sequence
  /// is followed.
  MixingLaw(const ScheduleSpec& spec,
            std::shared_ptr<const MixingSchedule> sequence,
            double most_work);

  // Empty where it is not known, or too much work.
  std::optional<double> left_after(std::uint64_t rounds) const;  ///< of a random disagreement
  std::optional<Estimate> n_eff(double discount) const;
  std::optional<Stationary> settled(const QuadraticProblem& problem) const;
  std::optional<Stationary> settled(const RegressionFleet& fleet) const;
  std::optional<Stationary> after(const RegressionProblem& problem, std::uint64_t rounds) const;
  std::optional<Stationary> start(const QuadraticProblem& problem) const;
  /// Followed schedules: see schedule_stable_rates.
  std::optional<StableRates> stable_rates(const QuadraticProblem& problem) const;
  /// Infinite when never.
  std::optional<double> rounds_to(const QuadraticProblem& problem, double target) const;

 private:
  bool by_modes(const QuadraticFleet& fleet) const;
  bool by_steps(const QuadraticFleet& fleet) const;
  std::optional<double> walk_to(const QuadraticProblem& problem, double target) const;

  std::optional<Modes> modes_;
  std::shared_ptr<const MixingSchedule> sequence_;  ///< null: not to be followed
  double most_work_ = 0;
};

/// The goal by which `graph best` puts graphs in order.
struct GraphGoal {
  std::optional<QuadraticFleet> fleet;  ///< none: averaging alone counts
  std::optional<double> target;         ///< excess loss of local models to reach
  double start = 1;                     ///< x_0 in every coordinate; used with a target

  /// "rounds_to_thousandth" | "excess_loss_local" | "rounds_to_target"
  std::string measure() const;
};

/// Says why a fleet of the method that has this order (quadratic_orders()) cannot run on W; ""
/// where it can.
std::string refusal_of_order(const std::string& order, const MixingMatrix& w);

/// The smaller the better; infinite where the fleet diverges, never arrives, is refused, or where
/// there is no theory. Throws std::invalid_argument for a fleet without one.
double score_of(const GraphCandidate& c, PeerId peers, const GraphGoal& goal);

/// Says in one line why the first of `found` (best first) is there.
std::string reason_of(const std::vector<GraphCandidate>& found, const GraphGoal& goal);

}  // namespace gv
