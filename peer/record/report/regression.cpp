#include "peer/record/report/regression.h"

#include <cmath>

#include <fmt/format.h>

namespace gv {

bool is_regression(const Dataset* test) {
  return test != nullptr && !test->targets.empty();
}

double loss_of_mean(const Dataset& data) {
  double mean = 0, sum = 0;
  for (const float y : data.targets) mean += static_cast<double>(y) / data.rows;
  for (const float y : data.targets) {
    const double off = static_cast<double>(y) - mean;
    sum += 0.5 * off * off;
  }
  return sum / data.rows;
}

std::optional<RegressionScore> regression_score(const Dataset* test, double loss) {
  if (!is_regression(test) || !std::isfinite(loss)) return std::nullopt;
  RegressionScore score{.rmse = std::sqrt(2 * loss)};
  const double of_mean = loss_of_mean(*test);
  if (of_mean > 0) score.r2 = 1 - loss / of_mean;
  return score;
}

std::string score_text(const RegressionScore& score) {
  return fmt::format("R2         {}; root of the mean squared error {:.5g}",
                     score.r2 ? fmt::format("{:.4f}", *score.r2) : "none, all targets are alike",
                     score.rmse);
}

void add_score(Json& to, const std::optional<RegressionScore>& score) {
  if (!score) return;
  to["r2"] = score->r2;
  to["rmse"] = score->rmse;
}

}  // namespace gv
