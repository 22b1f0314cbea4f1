#pragma once

#include <memory>
#include <optional>

#include "graph/schedule/schedule.h"
#include "peer/study/predict/forecast/quadratic_problem.h"
#include "peer/study/predict/forecast/regression_problem.h"

namespace gv {

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

}  // namespace gv
