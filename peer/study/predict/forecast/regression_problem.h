#pragma once

#include <optional>
#include <vector>

#include "graph/predict/regression.h"
#include "peer/runtime/assembly.h"

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

}  // namespace gv
