#pragma once

#include <cstdint>
#include <vector>

#include "graph/predict/pull_modes.h"
#include "graph/predict/quadratic.h"

namespace gv {

/// A share of a sum over the Hessian's axes that lies at one curvature.
struct CurvatureShare {
  double curvature = 0;
  double value = 0;
};

/// What D-PSGD feels of any smooth objective near a point: the curvatures that its gradients' noise
/// and its peers' disagreement lie in. Where f has curvature H there, with Sigma the covariance of
/// a minibatch gradient, all that matters of both is the measure sum_k (u_k^T Sigma u_k) at h_k.
struct LocalModel {
  PeerId peers = 0;
  /// Of one minibatch gradient, as if its samples were drawn anew each time; sums to tr Sigma.
  std::vector<CurvatureShare> noise;
  /// Minibatches in an epoch that is drawn without replacement: over an epoch such noise cancels.
  /// 0: every sample is fresh.
  double epoch = 0;
  /// How the peers' gradients differ from their mean at the point, in parts: where the part's axes
  /// lie (values sum to 1), and the peers' inner products, n x n.
  struct Pull {
    std::vector<CurvatureShare> measure;
    std::vector<double> gram;
  };
  std::vector<Pull> pulls;
  /// What displacements of the peers add to the mean of their gradients. `axes`: where that is felt
  /// (value: the mean gradient's component). Sources: displacements along the axis of noise[k] and
  /// pulls[k], the last for all that are left; numbers for each axis. No axes: nothing is added.
  struct Drift {
    std::vector<CurvatureShare> axes;
    struct Source {
      std::vector<double> of_deviation;  ///< (1/n) sum_i (H_i - H) d_i, d_i = grad f_i - grad f
      std::vector<double> of_variance;  ///< 1/2 D3f : C, C the displacements' covariance of trace 1
    };
    std::vector<Source> sources;
    /// What pulls -d_i do in all orders where averaging forgets displacements after `memory` of
    /// training time; by growing memory. Without: nothing beyond the first order.
    struct Lasting {
      double memory = 0;
      std::vector<double> push;
    };
    std::vector<Lasting> lasting;
    double sampled = 0;  ///< share of sum |d_i|^2 that is there because shares are small samples
  };
  Drift drift;
};

/// Consensus distance and excess losses of a fleet that is near one point all the time. The
/// recursion is that of Lian et al. 2017 (arXiv:1705.09056, Algorithm 1), linear around the point.
class LocalPredictor {
 public:
  /// Throws std::invalid_argument when modes and model have not the same peers.
  LocalPredictor(PullModes modes, LocalModel model);

  /// After `rounds` rounds from equal models, averaged over the places in an epoch. Excess: over
  /// gradient descent without noise at the same rate and round. fleet.rate, momentum and order
  /// count (lian, atc, cta); what else it says does not. Within an epoch the noise is white minus
  /// its mean over the epoch. Directions of negative curvature count as flat: training does not
  /// stay there. Infinite where a mode grows.
  Stationary after(const QuadraticFleet& fleet, std::uint64_t rounds) const;

  /// What the peers' being apart has added to their mean gradient by then, along model.drift.axes.
  /// Of noise: of_variance times E |x_i - x|^2, source by source. Of pulls: drift.lasting, the mean
  /// over W's modes (deviations d_i placed at random); a mode of eigenvalue lambda forgets after
  /// rate / (1 - lambda), in the orders atc and cta lambda times that. But a small share's sampled
  /// part pulls by its other epochs only: what has been drawn in this one is not drawn again before
  /// its end, and cancels it (for one worker: Smith, Dherin, Barrett & De 2021, arXiv:2101.12176).
  /// Axes in which a mode grows push nothing: where that stops is beyond
  /// this theory, and training may have left such a place behind.
  std::vector<double> push(const QuadraticFleet& fleet, std::uint64_t rounds) const;
  const LocalModel& model() const { return model_; }

 private:
  struct Power {
    double others = 0, mean = 0;  ///< of all modes but the mean's, and of that
  };
  Power noise_of(std::size_t share, const QuadraticFleet& f, std::uint64_t rounds) const;
  double pull_of(std::size_t pull,
                 const CurvatureShare& share,
                 const QuadraticFleet& f,
                 std::uint64_t rounds) const;
  /// Whether some mode grows there.
  bool is_unstable(double h, const QuadraticFleet& f) const;
  double cancelled(double h, const QuadraticFleet& f) const;
  void add_lasting(std::vector<double>& push, const QuadraticFleet& f) const;
  void add_noise(Stationary& s, const QuadraticFleet& fleet, std::uint64_t rounds) const;
  void add_pulls(Stationary& s, const QuadraticFleet& fleet, std::uint64_t rounds) const;
  double clamp_curvature(double curvature) const;

  PullModes modes_;
  LocalModel model_;
  std::vector<std::vector<double>> powers_;  ///< of each pull
  double least_ = 1e-12;                     ///< curvature: below, directions count as flat
};

}  // namespace gv
