#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/predict/local.h"
#include "peer/predict/calibrate/local_calibration.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// What a short training in this process has shown of a fleet's objective, at a few times of it.
/// Training time is rate x steps / (1 - momentum): what gradient descent has gone through, whatever
/// its rate.
struct FleetCalibration {
  struct Point {
    double time = 0;  ///< training time
    double age = 0;   ///< what pulls are taken to have lasted: `time`; at x_0 their mean age up to
                      ///< the next point
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

/// tr Sigma / |grad f|^2, in samples, at a point of the calibration, whose minibatches have
/// `batch`: one that is much larger saves hardly any step. McCandlish, Kaplan et al. 2018, "An
/// empirical model of large-batch training", arXiv:1812.06162, equation 2.9. It grows as training
/// goes on.
double noise_scale(const FleetCalibration::Point& point, std::uint32_t batch);

/// Trains on the mean of the peers' large minibatches, with steps that follow the curvature, as far
/// in training time as the fleet will go, or as `flops` allow; looks at x_0, 1/16, 1/4 and the end.
/// More than 64 peers: 64 of them. The same bits for the same fleet, but for the seconds. Throws
/// FleetError where the calibration does not apply: not D-PSGD with SGD at a constant rate and one
/// local step, no end given, minibatches as large as a share.
FleetCalibration calibrate(const Assembly& fleet,
                           const std::function<void(const std::string&)>& progress,
                           double flops = 2e11);

}  // namespace gv
