#pragma once

#include <optional>
#include <string>

namespace gv {

/// What the predictor said of a run's end, where the theory knows it: summary.json, "predicted".
struct StoredPrediction {
  double consensus = 0, loss_mean = 0, loss_local = 0;
};

/// Nothing where nothing was predicted. Throws UnusableRun for a damaged summary.
std::optional<StoredPrediction> read_prediction(const std::string& run_folder);

}  // namespace gv
