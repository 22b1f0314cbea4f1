#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/predict/local.h"
#include "graph/predict/mean_lag.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/predict/calibrate/krylov.h"
#include "peer/study/predict/calibrate/local_calibration.h"

namespace gv {

/// The results of a short training run in this process on a fleet's objective, measured at a few
/// points. Training time is the time of gradient descent at any rate (RateCourse::time).
struct FleetCalibration {
  struct Point {
    double time = 0;  ///< training time
    double age = 0;   ///< assumed age of pulls: `time`; at x_0 their mean age up to the next point
    Calibration at;
    LocalModel model;  ///< `at`, as a model for the predictor
    double slope = 0;  ///< |grad f|^2 on the samples of the backward pass; 0: none
  };
  struct Loss {
    double time = 0, loss = 0;  ///< training loss, mean over the peers' shares
  };
  std::vector<Point> points;  ///< the first is x_0
  std::vector<Loss> curve;
  std::vector<DescentSlope> slopes;  ///< along the way; none without a backward pass
  double horizon = 0;       ///< training time of the whole run, even if the work did not suffice
  double seconds = 0;       ///< duration of the calibration
  double step_seconds = 0;  ///< duration of a minibatch gradient on one core here
};

/// Returns tr Sigma / |grad f|^2, in samples, at a point measured with minibatches of size `batch`:
/// much larger batches save hardly any steps. "An empirical model of large-batch training",
/// McCandlish, Kaplan et al. 2018, arXiv:1812.06162, equation 2.9. It grows during training.
double noise_scale(const FleetCalibration::Point& point, std::uint32_t batch);

/// Returns one sentence on why no losses are predicted for this fleet; empty if they can be: D-PSGD
/// on one W, or all-reduce, with SGD, one local step and a known end.
std::string not_calibrated(const Assembly& fleet);

/// Returns the rates of a fleet that can be calibrated.
RateCourse course_of(const Assembly& fleet);

/// Trains on the mean of the peers' large minibatches, with steps that follow the curvature, up to
/// the fleet's training time or until `flops` are spent. Measures at x_0, 1/64, 1/16, 1/4 and the
/// end, then passes backward from each point to find the later cost of pushes. Uses at most 64
/// peers. Repeated calls return the same bits, except for the seconds. Throws FleetError if
/// minibatches are as large as a share, and std::invalid_argument if not_calibrated(fleet) gives a
/// reason.
FleetCalibration calibrate(const Assembly& fleet,
                           const std::function<void(const std::string&)>& progress,
                           double flops = 1e12);

/// A point on the path of gradient descent.
struct DescentNode {
  double time = 0;  ///< training time
  std::vector<float> x;
};

/// Returns grad f(x), the same function in each call.
using FullGradient = std::function<Doubles(const std::vector<float>& x)>;

/// The later cost of pushing the mean. Gradient descent x' = -grad f(x) that is pushed by p on its
/// way ends with a loss that is larger by E1 = -integral of lambda_t . p_t dt to first order, where
/// lambda' = H lambda backwards from lambda_T = grad f(x_T) (the adjoint method: Pontryagin et al.
/// 1962; for neural networks Chen et al. 2018, arXiv:1806.07366). One backward pass serves all
/// graphs and orders. Along the way lambda_t . grad f(x_t) stays |grad f(x_T)|^2.
///
/// Between two nodes H is taken at their middle, and e^{-H dt} in a Krylov space (Hochbruck &
/// Lubich, SIAM J. Numer. Anal. 1997). Products with H are differences of gradients at a distance
/// that is typical between peers (0.05), so that they include the kinks of ReLU: without the kinks,
/// the cost of a push of an MLP is underestimated by half.
class AdjointPass {
 public:
  /// `nodes`: ascending in time. `steps`: pairs of gradients per node.
  AdjointPass(std::span<const DescentNode> nodes, FullGradient gradient, std::size_t steps = 6);

  struct Backward {
    Doubles at_end, at_start;  ///< lambda at these times
    /// Integrals of phi_j(t) lambda_t dt, where phi_j is 1 at point j, 0 at the other points and
    /// interpolated by between_points: a push p_j that is known at the points costs -sum of p_j .
    /// integrals[j]. Pushes at points must be weighted with lambda of all times, because in sharp
    /// axes lambda vanishes within 1 / h before the end.
    std::vector<Doubles> integrals;
  };
  /// Follows descent back to node `last`. `points`: times from the first node to `last`.
  Backward back_from(std::size_t last, std::span<const double> points) const;

 private:
  std::span<const DescentNode> nodes_;
  FullGradient gradient_;
  std::size_t steps_;
};

}  // namespace gv
