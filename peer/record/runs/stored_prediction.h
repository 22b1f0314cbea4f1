#pragma once

#include <optional>
#include <string>

namespace gv {

/// The figures that were predicted of a run: summary.json, "predicted".
struct StoredPrediction {
  /// The losses at its end, where the theory knows them.
  struct Losses {
    double consensus = 0, mean = 0, local = 0;
  };
  std::optional<Losses> losses;
  std::optional<double> round_seconds;  ///< by the clock of its method, on its file's network
};

/// Returns nothing where nothing was predicted. Throws UnusableRun for a damaged summary.
std::optional<StoredPrediction> read_prediction(const std::string& run_folder);

}  // namespace gv
