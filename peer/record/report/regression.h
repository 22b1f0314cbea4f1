#pragma once

#include <optional>
#include <string>

#include "optim/data/dataset.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// The loss of a regression, half the mean squared error, beside its targets.
struct RegressionScore {
  double rmse = 0;  ///< root of the mean squared error, in the target's unit
  /// 1 - loss / loss_of_mean, as scikit-learn's r2_score; nothing where all targets are alike.
  std::optional<double> r2{};
};

/// Returns whether the samples have targets that are numbers.
bool is_regression(const Dataset* test);

/// The loss of whoever tells the mean of these targets: half their variance.
double loss_of_mean(const Dataset& data);

/// Returns nothing where the samples are no regression's, or the loss is not finite.
std::optional<RegressionScore> regression_score(const Dataset* test, double loss);

/// "R2         0.4876; root of the mean squared error 54.1"
std::string score_text(const RegressionScore& score);
/// Adds it as `r2` and `rmse`, where there is one.
void add_score(Json& to, const std::optional<RegressionScore>& score);

}  // namespace gv
