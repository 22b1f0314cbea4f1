#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/predict/mean_lag.h"
#include "peer/fleet/json/json.h"
#include "peer/study/predict/calibrate/fleet_calibration.h"
#include "peer/study/predict/forecast/forecast.h"

namespace gv {

/// The loss of the mean model over gradient descent without noise, and its parts, which are known
/// to a tenth each.
struct MeanExcess {
  double noise = 0;   ///< of the mean gradient's own, as a quadratic has it
  MeanPush push;      ///< what the push has cost, in losses: to first order
  double lagged = 0;  ///< the same to all orders, as a lag in training time

  double value() const { return noise + lagged; }
  /// A tenth of the root of the sum of the parts' squares. The parts nearly cancel at times: below
  /// four times this a value says no more than that it is small.
  double uncertainty() const;
  MeanExcess minus(const MeanExcess& other) const;
};
/// The forecast of the fleet with this W, by its calibration.
class CalibratedForecast {
 public:
  /// Throws std::invalid_argument for a directed W that is not normal.
  CalibratedForecast(const Assembly& fleet,
                     const MixingMatrix& w,
                     const FleetCalibration& calibration);
  /// Does the same with all-reduce instead: W = 11^T / n after every step.
  static CalibratedForecast of_all_reduce(const Assembly& fleet,
                                          const FleetCalibration& calibration);
  /// Makes that of the fleet's own method: d-psgd or all-reduce.
  static CalibratedForecast of(const Assembly& fleet, const FleetCalibration& calibration);

  /// Predicts excess losses over gradient descent without noise, after `rounds` rounds.
  Stationary after(std::uint64_t rounds) const;
  MeanExcess mean_excess(std::uint64_t rounds) const;
  double descent_loss(std::uint64_t rounds) const;  ///< of gradient descent: training loss
  double loss_local(std::uint64_t rounds) const;    ///< mean training loss of the local models
  /// The first round with loss_local at most `target`; none within the fleet's rounds.
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
  std::vector<double> times_;               ///< likewise
  std::vector<MeanPush> lags_;              ///< likewise: in training time
};

/// Fills in what the calibration knows of the fleet itself, of the other graphs, none of which may
/// change with the round, and of all-reduce. target: of the training loss of local models; none:
/// what this fleet has after nine tenths of its rounds. Beyond the stability limit, and where the
/// calibration has not come a quarter of the way, no losses are known: forecast.warning says so.
void add_calibrated(FleetForecast& forecast,
                    const Assembly& fleet,
                    const FleetCalibration& calibration,
                    const std::optional<double>& target);

/// Adds the same fleet with `sets`, of which only the topology and the order may be another: what
/// the calibration does not depend on. `row`: what is known of it without a calibration. Call it
/// after add_calibrated.
void add_beside(FleetForecast& forecast,
                const std::string& sets,
                const Assembly& other,
                const Forecast& row,
                const FleetCalibration& calibration);

/// Returns what `predicted` has more of: the training losses at the end of the run, null where they
/// are not predicted, and `curve`: twenty rounds on the way with what is predicted there.
Json calibrated_json(const FleetForecast& forecast,
                     const Assembly& fleet,
                     const FleetCalibration& calibration);

}  // namespace gv
