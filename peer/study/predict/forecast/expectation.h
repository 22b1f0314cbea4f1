#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/predict/quadratic.h"
#include "graph/predict/stable_rates.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Returns what the predictor says of a fleet at `record`'s round: of its own minima where they are
/// few enough to follow, else over their draw. For linear regression on fresh samples these are
/// losses, not excess losses. Empty where the theory does not apply (see quadratic_problem,
/// regression_problem) or peers are missing. One run scatters around it.
std::optional<Stationary> expectation(const Assembly& fleet, const FleetRecord& record);

/// Prediction and measurement, a line each; begins with a newline, empty without a prediction.
std::string expectation_text(const std::optional<Stationary>& expected, const FleetRecord& record);

/// Adds "predicted": {"consensus", "excess_loss_mean", "excess_loss_local"} to the document of
/// summary_json, where there is a prediction.
void add_expectation(Json& summary, const std::optional<Stationary>& expected);

/// The predictor's view of a quadratic fleet. Coordinates with the same curvature are alike, so
/// each part of the Hessian is counted instead of repeated.
struct QuadraticProblem {
  struct Part {
    QuadraticFleet fleet;
    double copies = 1;
  };
  std::vector<Part> parts;
  double start = 0;  ///< x_0 in every coordinate

  /// Coordinates summed. Empty when some mode is unstable.
  std::optional<Stationary> settled(const Modes& modes) const;
  /// Predicts the state after `rounds` rounds; empty where the predictor knows the end alone.
  std::optional<Stationary> after(const Modes& modes, std::uint64_t rounds) const;
  /// Local models' excess loss at most `target`; none when never within `most` rounds, or unknown.
  std::optional<std::uint64_t> rounds_to(const Modes& modes,
                                         double target,
                                         std::uint64_t most) const;
  StableRates stable_rates(const Modes& modes) const;
  QuadraticFleet spelled_out() const;  ///< every coordinate by itself
  double curvature() const;            ///< L: the largest of the Hessian
  double rate() const { return parts.front().fleet.rate; }
};

/// Returns nothing when the theory does not apply: another model, another algorithm than D-PSGD,
/// Adam, Nesterov momentum, weight decay, a rate that changes.
std::optional<QuadraticProblem> quadratic_problem(const Assembly& fleet);

}  // namespace gv
