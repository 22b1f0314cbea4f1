#pragma once

#include <optional>
#include <string>

#include "graph/best_graphs.h"
#include "graph/predict/quadratic.h"

namespace gv {

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
