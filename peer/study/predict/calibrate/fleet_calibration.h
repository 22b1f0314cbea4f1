#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/predict/local.h"
#include "graph/predict/mean_lag.h"
#include "peer/runtime/assembly.h"
#include "peer/study/predict/calibrate/krylov.h"
#include "peer/study/predict/calibrate/local_calibration.h"

namespace gv {

/// The findings of a short training in this process on a fleet's objective, at a few times of it.
/// Training time is what gradient descent has gone through, whatever its rates (RateCourse::time).
struct FleetCalibration {
  struct Point {
    double time = 0;  ///< training time
    double age = 0;   ///< what pulls are taken to have lasted: `time`; at x_0 their mean age up to
                      ///< the next point
    Calibration at;
    LocalModel model;  ///< `at`, for the predictor
    double slope = 0;  ///< |grad f|^2, of the samples of the backward pass; 0: there was none
  };
  struct Loss {
    double time = 0, loss = 0;  ///< training loss, the mean over the peers' shares
  };
  std::vector<Point> points;  ///< the first at x_0
  std::vector<Loss> curve;
  std::vector<DescentSlope> slopes;  ///< along the way; empty: there was no backward pass
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

/// Says in one sentence why no losses are predicted for this fleet; empty where they can be: D-PSGD
/// on one W, or all-reduce, with SGD, one local step and a known end.
std::string not_calibrated(const Assembly& fleet);

/// The rates of a fleet that can be calibrated.
RateCourse course_of(const Assembly& fleet);

/// Trains on the mean of the peers' large minibatches, with steps that follow the curvature, as far
/// in training time as the fleet will go, or as `flops` allow; looks at x_0, 1/64, 1/16, 1/4 and
/// the end. Then goes back from each point, for what pushes on the way have cost by then. Takes
/// 64 peers at most. A fleet gives the same bits each time, but for the seconds. Throws FleetError
/// where minibatches are as large as a share, and std::invalid_argument where
/// not_calibrated(fleet) says why.
FleetCalibration calibrate(const Assembly& fleet,
                           const std::function<void(const std::string&)>& progress,
                           double flops = 1e12);

/// A point on the way of gradient descent.
struct DescentNode {
  double time = 0;  ///< training time
  std::vector<float> x;
};

/// grad f(x), the same function each time.
using FullGradient = std::function<Doubles(const std::vector<float>& x)>;

/// The later cost of pushing the mean. Gradient descent x' = -grad f(x) that is pushed by p on its
/// way ends with E1 = -integral of lambda_t . p_t dt more loss, to first order, where
/// lambda' = H lambda backwards from lambda_T = grad f(x_T) (the adjoint method: Pontryagin et al.
/// 1962; for neural networks Chen et al. 2018, arXiv:1806.07366). It knows no graph and no order:
/// one backward pass serves all of them. On the way lambda_t . grad f(x_t) stays |grad f(x_T)|^2.
///
/// Between two nodes H is that of their middle, and e^{-H dt} is taken in a Krylov space (Hochbruck
/// & Lubich, SIAM J. Numer. Anal. 1997). Products with H are differences of gradients over a length
/// at which peers are apart (0.05), so that the kinks of ReLU are part of it: without them a push
/// of an MLP costs half of what it does.
class AdjointPass {
 public:
  /// nodes: by growing time. steps: gradients, in pairs, per node.
  AdjointPass(std::span<const DescentNode> nodes, FullGradient gradient, std::size_t steps = 6);

  struct Backward {
    Doubles at_end, at_start;  ///< lambda there
    /// Integrals of phi_j(t) lambda_t dt, where phi_j is 1 at point j, 0 at the others and between
    /// them as between_points says: a push p_j that is known at the points costs -sum of p_j . it.
    /// What is known at points has to be weighted with lambda of all times: in sharp axes lambda
    /// vanishes within 1 / h before the end.
    std::vector<Doubles> integrals;
  };
  /// Goes back along descent to node `last`; points: times from the first node's to its own.
  Backward back_from(std::size_t last, std::span<const double> points) const;

 private:
  std::span<const DescentNode> nodes_;
  FullGradient gradient_;
  std::size_t steps_;
};

}  // namespace gv
