#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/predict/quadratic.h"
#include "graph/predict/rates/stable_rates.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// Returns the prediction for a fleet at `record`'s round: with its own minima if they are few
/// enough to follow, else as a mean over their distribution. For linear regression these are
/// losses, not excess losses. Empty if the theory does not apply (see quadratic_problem,
/// regression_problem) or peers are missing. Single runs scatter around it.
std::optional<Stationary> expectation(const Assembly& fleet, const FleetRecord& record);

/// Returns a line for each predicted and measured value, after a newline; empty if no prediction.
std::string expectation_text(const std::optional<Stationary>& expected, const FleetRecord& record);

/// Adds "predicted": {"consensus", "excess_loss_mean", "excess_loss_local"} to the document of
/// summary_json, if there is a prediction.
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

  /// Returns the sum over coordinates; empty if some mode is unstable.
  std::optional<Stationary> settled(const Modes& modes) const;
  /// Predicts the state after `rounds` rounds; empty if only the stationary state is known.
  std::optional<Stationary> after(const Modes& modes, std::uint64_t rounds) const;
  /// Returns the rounds to a local excess loss of `target`; empty if above `most` or unknown.
  std::optional<std::uint64_t> rounds_to(const Modes& modes,
                                         double target,
                                         std::uint64_t most) const;
  StableRates stable_rates(const Modes& modes) const;
  QuadraticFleet spelled_out() const;  ///< each coordinate separately
  double curvature() const;            ///< L, the largest entry of the Hessian
  double rate() const { return parts.front().fleet.rate; }
};

/// Returns nothing if the theory does not apply: another model, an algorithm other than D-PSGD,
/// Adam, Nesterov momentum, weight decay, a learning rate that changes.
std::optional<QuadraticProblem> quadratic_problem(const Assembly& fleet);

}  // namespace gv
