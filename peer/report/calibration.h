#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "graph/predict_local.h"
#include "optim/calibration.h"
#include "peer/report/forecast.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// What a short training in this process has shown of a fleet's objective, at a few times of it.
/// Training time is rate x steps / (1 - momentum): what gradient descent has gone through, whatever
/// its rate.
struct FleetCalibration {
  struct Point {
    double time = 0;  ///< training time
    Calibration at;
    LocalModel model;  ///< `at`, for the predictor
  };
  struct Loss {
    double time = 0, loss = 0;  ///< training loss, the mean over the peers' shares
  };
  std::vector<Point> points;  ///< the first at x_0
  std::vector<Loss> curve;
  double horizon = 0;       ///< training time of the whole run; more than the last point's when the
                            ///< work allowed did not suffice
  double seconds = 0;       ///< that it took
  double step_seconds = 0;  ///< of a minibatch gradient, measured on one core here
};

/// Trains on the mean of the peers' large minibatches, with steps that follow the curvature, as far
/// in training time as the fleet will go, or as `flops` allow; looks at x_0, 1/16, 1/4 and the end.
/// More than 64 peers: 64 of them. The same bits for the same fleet, but for the seconds. Throws
/// FleetError where the calibration does not apply: not D-PSGD with SGD at a constant rate and one
/// local step, no end given, minibatches as large as a share.
FleetCalibration calibrate(const Assembly& fleet,
                           const std::function<void(const std::string&)>& progress,
                           double flops = 2e11);

/// What the fleet with this W will do, by its calibration.
class CalibratedForecast {
 public:
  /// Throws std::invalid_argument for a directed W that is not normal.
  CalibratedForecast(const Assembly& fleet,
                     const MixingMatrix& w,
                     const FleetCalibration& calibration);

  /// After `rounds` rounds: excess losses over gradient descent without noise.
  Stationary after(std::uint64_t rounds) const;
  double descent_loss(std::uint64_t rounds) const;  ///< of gradient descent: training loss
  double loss_local(std::uint64_t rounds) const;    ///< mean training loss of the local models
  /// The first round with loss_local at most `target`; none within twice the fleet's rounds.
  std::optional<std::uint64_t> rounds_to(double target) const;

 private:
  double time(std::uint64_t rounds) const;

  const FleetCalibration& calibration_;
  QuadraticFleet fleet_;
  std::uint64_t rounds_;
  std::vector<LocalPredictor> predictors_;  ///< one per point
};

/// Fills in what the calibration knows of the fleet itself and of the other graphs. target: of the
/// training loss of local models; none: what this fleet has after nine tenths of its rounds.
void add_calibrated(FleetForecast& forecast,
                    const Assembly& fleet,
                    const FleetCalibration& calibration,
                    const std::optional<double>& target);

/// What `predicted` has more of: the training losses at the end of the run.
nlohmann::ordered_json calibrated_json(const Assembly& fleet, const FleetCalibration& calibration);
nlohmann::ordered_json calibration_json(const FleetCalibration& calibration);
std::string calibration_text(const FleetCalibration& calibration);

}  // namespace gv
