#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/predict/local.h"
#include "graph/predict/mean_lag.h"
#include "peer/fleet/json/json.h"
#include "peer/study/predict/calibrate/fleet_calibration.h"
#include "peer/study/predict/calibrate/local_calibration.h"
#include "peer/study/predict/forecast/forecast.h"

namespace gv {

/// Loss of the mean model above gradient descent without noise, and its parts, each known to within
/// a tenth.
struct MeanExcess {
  double noise = 0;   ///< part from the mean gradient's noise, as in a quadratic
  MeanPush push;      ///< loss caused by each part of the push, to first order
  double lagged = 0;  ///< loss caused by the push to all orders, as a lag in time

  double value() const { return noise + lagged; }
  /// Returns a tenth of the root of the sum of the parts' squares. Parts can nearly cancel: a value
  /// below four times this is only known to be small.
  double uncertainty() const;
  MeanExcess minus(const MeanExcess& other) const;
};
/// The forecast of the fleet with this W, from its calibration.
class CalibratedForecast {
 public:
  /// Throws std::invalid_argument for a directed W that is not normal.
  CalibratedForecast(const Assembly& fleet,
                     const MixingMatrix& w,
                     const FleetCalibration& calibration);
  /// Returns the forecast with all-reduce instead: W = 11^T / n after every step.
  static CalibratedForecast of_all_reduce(const Assembly& fleet,
                                          const FleetCalibration& calibration);
  /// Returns the forecast of the fleet's own method: d-psgd or all-reduce.
  static CalibratedForecast of(const Assembly& fleet, const FleetCalibration& calibration);

  /// Predicts excess losses over gradient descent without noise, after `rounds` rounds.
  Stationary after(std::uint64_t rounds) const;
  MeanExcess mean_excess(std::uint64_t rounds) const;
  double descent_loss(std::uint64_t rounds) const;  ///< training loss of gradient descent
  double loss_local(std::uint64_t rounds) const;    ///< mean training loss of the local models
  /// Returns the first round with loss_local at most `target`, if within the fleet's rounds.
  std::optional<std::uint64_t> rounds_to(double target) const;

 private:
  CalibratedForecast(const Assembly& fleet,
                     const PullModes& modes,
                     std::string order,
                     const FleetCalibration& calibration);
  void find_lags();
  MeanPush lag_at(double time) const;
  double slope_at(double time) const;
  Stationary near(double time, std::uint64_t rounds) const;

  const FleetCalibration& calibration_;
  QuadraticFleet fleet_;
  RateCourse course_;
  std::uint64_t rounds_;
  std::vector<LocalPredictor> predictors_;  ///< one per point
  std::vector<double> times_;               ///< one per point
  std::vector<MeanPush> lags_;              ///< one per point, in training time
};

/// Fills in the calibrated predictions for the fleet, for the other graphs (which must be static)
/// and for all-reduce. `target`: training loss of local models; none: this fleet's loss after nine
/// tenths of its rounds. Predicts no losses beyond the stability limit, or if the calibration ended
/// before a quarter of the way; forecast.warning then has the reason.
void add_calibrated(FleetForecast& forecast,
                    const Assembly& fleet,
                    const FleetCalibration& calibration,
                    const std::optional<double>& target);

/// Adds the fleet with `sets`, which may change only the topology and the order, because the
/// calibration does not depend on them. `row`: its forecast without calibration. Call this after
/// add_calibrated.
void add_beside(FleetForecast& forecast,
                const std::string& sets,
                const Assembly& other,
                const Forecast& row,
                const FleetCalibration& calibration);

/// Returns additional fields for `predicted`: the training losses at the end of the run, null if
/// not predicted, and `curve`, the predictions for twenty rounds along the way.
Json calibrated_json(const FleetForecast& forecast,
                     const Assembly& fleet,
                     const FleetCalibration& calibration);

// Conversion of measurements for the predictor.

/// Returns the model of a fleet of `peers`, of which `looked` were measured.
LocalModel local_model(const Calibration& c, PeerId peers, std::size_t looked);

/// Extends some peers' deviations to all peers by expectation: their mean energy in each place.
void spread_over(LocalModel& m, std::size_t looked, PeerId peers);

Json calibration_json(const FleetCalibration& calibration);
std::string calibration_text(const FleetCalibration& calibration);

}  // namespace gv
