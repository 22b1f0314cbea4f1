#include "peer/study/predict/forecast/mixing_law.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "graph/predict/mixing.h"
#include "graph/predict/sequence.h"
#include "graph/predict/stable_rates.h"

namespace gv {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr PeerId dense_limit = 512;     ///< peers whose eigenvalues are all computed here
constexpr PeerId modes_limit = 20'000;  ///< peers whose modes are estimated here
constexpr PeerId sequence_limit = 256;  ///< peers whose sequence is followed
constexpr std::uint64_t most_rounds = 1'000'000;

std::optional<Modes> cheap_modes(const MixingMatrix& w,
                                 const TopologySpec& spec,
                                 std::string_view weights) {
  if (w.size() > modes_limit) return std::nullopt;
  if (auto modes = closed_form_modes(spec, w.size(), weights)) return modes;
  try {
    if (w.size() <= dense_limit) return modes_of(w);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (w.directed()) return std::nullopt;
  return stochastic_modes(w, 4, 200);
}

/// Multiplications in a round of a walk.
double work_of_round(PeerId n, const QuadraticProblem& problem) {
  const auto axes = static_cast<double>(problem.parts.front().fleet.hessian.size());
  return axes * 20.0 * n * n;
}

}  // namespace

MixingLaw::MixingLaw(const MixingMatrix& w, const TopologySpec& spec, std::string_view weights)
    : modes_(cheap_modes(w, spec, weights)) {}

MixingLaw::MixingLaw(const ScheduleSpec& spec,
                     std::shared_ptr<const MixingSchedule> sequence,
                     double most_work)
    : modes_(sequence->size() <= modes_limit ? schedule_modes(spec, sequence->size())
                                             : std::nullopt),
      sequence_(sequence->size() <= sequence_limit ? std::move(sequence) : nullptr),
      most_work_(most_work) {}

bool MixingLaw::by_modes(const QuadraticFleet& fleet) const {
  return modes_ && why_no_theory(*modes_, fleet).empty();
}

bool MixingLaw::by_steps(const QuadraticFleet& fleet) const {
  return sequence_ != nullptr && can_walk(fleet);
}

std::optional<double> MixingLaw::left_after(std::uint64_t rounds) const {
  double start = 0;
  double end = 0;
  if (modes_) {
    start = disagreement_after(*modes_, 0).value;
    end = disagreement_after(*modes_, rounds).value;
  } else if (sequence_ != nullptr) {
    start = sequence_disagreement(*sequence_, 0);
    end = sequence_disagreement(*sequence_, rounds);
  }
  if (!(start > 0)) return std::nullopt;
  return std::sqrt(end / start);
}

/// Follows the identity that effective neighbours are how much better local models settle than a
/// worker alone, in order atc with (1 - gamma h)^2 = g.
std::optional<Estimate> MixingLaw::n_eff(double discount) const {
  if (modes_) return effective_neighbors(*modes_, discount);
  const QuadraticFleet fleet{.hessian = {1}, .rate = 1 - std::sqrt(discount), .order = "atc"};
  if (!by_steps(fleet)) return std::nullopt;
  const auto settled = settled_sequence(*sequence_, fleet, most_work_);
  if (!settled) return std::nullopt;
  const double alone = fleet.rate * fleet.rate / (1 - discount) / 2;
  const double value = alone / settled->excess_local.value;
  return Estimate{value, value * settled->excess_local.error / settled->excess_local.value};
}

std::optional<Stationary> MixingLaw::settled(const QuadraticProblem& problem) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (by_modes(fleet)) return problem.settled(*modes_);
  if (!by_steps(fleet)) return std::nullopt;
  return settled_sequence(*sequence_, problem.spelled_out(), most_work_);
}

std::optional<Stationary> MixingLaw::settled(const RegressionFleet& fleet) const {
  if (!modes_) return std::nullopt;
  return predict_regression(*modes_, fleet);
}

std::optional<Stationary> MixingLaw::after(const RegressionProblem& problem,
                                           std::uint64_t rounds) const {
  if (!modes_ || !modes_->coarse.empty()) return std::nullopt;
  return predict_regression_after(*modes_, problem.fleet, problem.optimum, rounds);
}

std::optional<Stationary> MixingLaw::start(const QuadraticProblem& problem) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (by_modes(fleet)) return problem.after(*modes_, 0);
  if (!by_steps(fleet)) return std::nullopt;
  return SequenceWalk(*sequence_, problem.spelled_out(), problem.start).now();
}

std::optional<StableRates> MixingLaw::stable_rates(const QuadraticProblem& problem) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (by_modes(fleet)) return problem.stable_rates(*modes_);
  if (!by_steps(fleet)) return std::nullopt;
  return schedule_stable_rates(*sequence_, fleet);
}

std::optional<double> MixingLaw::rounds_to(const QuadraticProblem& problem, double target) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (!by_modes(fleet)) return by_steps(fleet) ? walk_to(problem, target) : std::nullopt;
  if (!problem.after(*modes_, 0)) return std::nullopt;
  const auto rounds = problem.rounds_to(*modes_, target, most_rounds);
  return rounds ? static_cast<double>(*rounds) : infinite;
}

std::optional<double> MixingLaw::walk_to(const QuadraticProblem& problem, double target) const {
  const std::optional<Stationary> end = settled(problem);
  if (!end) return std::nullopt;
  const bool arrives = end->excess_local.value <= target;
  // One that settles above may still dip below on its way, but early.
  const double most = arrives ? most_work_ / work_of_round(sequence_->size(), problem) : 100;
  SequenceWalk walk(*sequence_, problem.spelled_out(), problem.start);
  for (double t = 0; t <= most; ++t) {
    if (walk.now().excess_local.value <= target) return t;
    walk.round(sequence_->matrix(static_cast<std::uint64_t>(t)));
  }
  if (arrives) return std::nullopt;
  return infinite;
}

}  // namespace gv
