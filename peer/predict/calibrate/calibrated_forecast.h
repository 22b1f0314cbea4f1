#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/predict/mean_drift.h"
#include "peer/json/json.h"
#include "peer/predict/calibrate/fleet_calibration.h"
#include "peer/predict/forecast/forecast.h"

namespace gv {

/// What the fleet with this W will do, by its calibration.
class CalibratedForecast {
 public:
  /// Throws std::invalid_argument for a directed W that is not normal.
  CalibratedForecast(const Assembly& fleet,
                     const MixingMatrix& w,
                     const FleetCalibration& calibration);
  /// With all-reduce instead: W = 11^T / n after every step.
  static CalibratedForecast of_all_reduce(const Assembly& fleet,
                                          const FleetCalibration& calibration);

  /// After `rounds` rounds: excess losses over gradient descent without noise.
  Stationary after(std::uint64_t rounds) const;
  double descent_loss(std::uint64_t rounds) const;  ///< of gradient descent: training loss
  double loss_local(std::uint64_t rounds) const;    ///< mean training loss of the local models
  /// The first round with loss_local at most `target`; none within the fleet's rounds.
  std::optional<std::uint64_t> rounds_to(double target) const;

 private:
  CalibratedForecast(const Assembly& fleet,
                     const PullModes& modes,
                     std::string order,
                     const FleetCalibration& calibration);
  double time(std::uint64_t rounds) const;

  const FleetCalibration& calibration_;
  QuadraticFleet fleet_;
  std::uint64_t rounds_;
  std::vector<LocalPredictor> predictors_;  ///< one per point
  std::vector<DriftPoint> drift_;           ///< likewise
  std::vector<double> times_;               ///< likewise
};

/// Fills in what the calibration knows of the fleet itself, of the other graphs, none of which may
/// change with the round, and of all-reduce. target: of the training loss of local models; none:
/// what this fleet has after nine tenths of its rounds. Beyond the stability limit no losses are
/// known: forecast.warning says so.
void add_calibrated(FleetForecast& forecast,
                    const Assembly& fleet,
                    const FleetCalibration& calibration,
                    const std::optional<double>& target);

/// What `predicted` has more of: the training losses at the end of the run; null where they are not
/// predicted.
Json calibrated_json(const FleetForecast& forecast,
                     const Assembly& fleet,
                     const FleetCalibration& calibration);

}  // namespace gv
