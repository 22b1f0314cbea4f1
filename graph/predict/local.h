#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/predict/quadratic.h"
#include "graph/spectrum/modes.h"

namespace gv {

/// The modes of one W, for pulls.
class PullModes {
 public:
  /// Uses the peers' own places if W is normal and has at most 256 peers, else the expectation over
  /// random placements. Throws std::invalid_argument where modes_of does.
  explicit PullModes(const MixingMatrix& w);
  /// Returns the modes of W = 11^T / n: all 0.
  static PullModes exact_averaging(PeerId n);
  /// Returns |G_j|^2 of every mode but the mean's, in the order of modes().
  std::vector<double> powers(const std::vector<double>& gram) const;
  const std::vector<Mode>& modes() const { return modes_; }
  PeerId peers() const { return peers_; }

 private:
  PullModes(PeerId peers, std::vector<Mode> modes) : peers_(peers), modes_(std::move(modes)) {}

  PeerId peers_;
  std::vector<Mode> modes_;
  /// Row by row like modes_; empty if the modes are an expectation.
  std::vector<std::complex<double>> vectors_;
};

/// Rounds that have one rate, or nearly so.
struct RateStretch {
  double rate = 0;
  std::uint64_t rounds = 0;
};

/// The rates gamma_t of a run, round by round, and the training time of gradient descent: the
/// sum of its steps along a constant gradient. With momentum beta a gradient counts gamma_t beta^k
/// in the k-th round after it, so that sum is (1 - beta^{t+1}) / (1 - beta) gamma_t.
class RateCourse {
 public:
  /// Takes the same rate in all rounds.
  explicit RateCourse(double rate, double momentum = 0);
  /// rate(t) of round t, for `rounds` rounds; after them the last one stays.
  RateCourse(const std::function<double(std::uint64_t)>& rate,
             std::uint64_t rounds,
             double momentum);

  double rate(std::uint64_t round) const;
  double time(std::uint64_t rounds) const;  ///< training time after this number of rounds
  /// The first round whose training time is at least `time`, less a millionth for rounding.
  std::uint64_t rounds_until(double time) const;
  bool constant() const { return rates_.size() == 1; }

  /// The first `rounds` rounds, in stretches of whole `unit`s (without the remainder) within which
  /// the rate differs by at most a twentieth of the largest there; a stretch has the mean rate.
  std::vector<RateStretch> stretches(std::uint64_t rounds, std::uint64_t unit) const;

 private:
  void divide(std::uint64_t begin,
              std::uint64_t end,
              std::uint64_t unit,
              std::vector<RateStretch>& found) const;

  std::vector<double> rates_;
  std::vector<double> times_;  ///< training time after each round
  double momentum_ = 0;
  double largest_ = 0;
};

/// A share of a sum over the Hessian's axes that lies at one curvature.
struct CurvatureShare {
  double curvature = 0;
  double value = 0;
};

/// A smooth objective near a point, as far as D-PSGD depends on it: the curvatures of its
/// gradients' noise and of its peers' disagreement. If f has curvature H there and Sigma is the
/// covariance of a minibatch gradient, only the measure sum_k (u_k^T Sigma u_k) at h_k matters.
struct LocalModel {
  PeerId peers = 0;
  /// The noise of a minibatch gradient, its samples drawn again each time; sums to tr Sigma.
  std::vector<CurvatureShare> noise;
  /// Minibatches in an epoch that is drawn without replacement: over an epoch such noise cancels.
  /// 0: every sample is fresh.
  double epoch = 0;
  /// Differences of the peers' gradients from their mean at the point, in parts: the curvatures of
  /// the part's axes (values sum to 1), and the peers' inner products, n x n.
  struct Pull {
    std::vector<CurvatureShare> measure;
    std::vector<double> gram;
  };
  std::vector<Pull> pulls;
  /// The push that displacements of the peers add to the mean of their gradients, each as its inner
  /// product with some vectors, the adjoints: the later loss due to a push of the mean
  /// (mean_lag.h). Sources: displacements along the axis of noise[k] and pulls[k], and the rest.
  struct Drift {
    std::size_t adjoints = 0;  ///< numbers in each vector here; 0: nothing is added
    struct Source {
      std::vector<double> of_deviation;  ///< (1/n) sum_i (H_i - H) d_i, d_i = grad f_i - grad f
      std::vector<double> of_variance;  ///< 1/2 D3f : C, C the displacements' covariance of trace 1
    };
    std::vector<Source> sources;
    /// The effect of pulls -d_i if averaging forgets displacements after `memory` of training time;
    /// by growing memory. For displacements m the push is odd + even, for -m even - odd. If there
    /// are none: by the sources alone.
    struct Lasting {
      double memory = 0;
      std::vector<double> odd, even;
    };
    std::vector<Lasting> lasting;
    double sampled = 0;  ///< share of sum |d_i|^2 that is due to small samples
  };
  Drift drift;
};

/// The push on the peers' mean gradient due to their distances, as its product with an adjoint.
struct MeanPush {
  double curvature = 0;  ///< displacement by noise, if the curvature has a slope
  /// Displacement by pulls, to first order: H_i and d_i come from the same samples.
  double shares = 0;
  double epoch = 0;   ///< compensation by samples drawn in this epoch
  double second = 0;  ///< pulls, to second order

  double sum() const { return curvature + shares + epoch + second; }
  /// Returns f of each part, which is given as a member.
  template <class F>
  static MeanPush of(F f) {
    return {f(&MeanPush::curvature), f(&MeanPush::shares), f(&MeanPush::epoch),
            f(&MeanPush::second)};
  }
};

/// Consensus distance and excess losses of a fleet that stays near one point. The recursion is
/// that of Lian et al. 2017 (arXiv:1705.09056, Algorithm 1), linear around the point.
class LocalPredictor {
 public:
  /// Throws std::invalid_argument when modes and model have not the same peers.
  LocalPredictor(PullModes modes, LocalModel model);

  /// Returns them after `rounds` rounds from equal models, averaged over the places in an epoch.
  /// Excess: over gradient descent without noise at the same rates and round. Of `fleet` only
  /// momentum, nesterov and order (lian, atc, cta) are used; the rates are the course's. Within an
  /// epoch the noise is white minus its mean over the epoch. Negative curvature counts as flat,
  /// because training does not stay there. Infinite if a mode grows.
  Stationary after(const QuadraticFleet& fleet,
                   const RateCourse& course,
                   std::uint64_t rounds) const;
  /// Returns them for the rate fleet.rate in all rounds.
  Stationary after(const QuadraticFleet& fleet, std::uint64_t rounds) const;

  /// Returns the push that the peers' distances have added to their mean gradient by then, along
  /// each adjoint. For noise: of_variance times E |x_i - x|^2, source by source. For pulls: the
  /// mean over W's modes (deviations d_i placed at random) of the displacements. The part of a
  /// small share that comes from sampling counts to first order, source by source, and the rest by
  /// drift.lasting; a mode of eigenvalue lambda forgets after rate / (1 - lambda), in the orders
  /// atc and cta lambda times that. But the sampled part pulls by its other epochs only: samples
  /// drawn in this epoch are not drawn again before its end, and cancel it (for one worker: Smith,
  /// Dherin, Barrett & De 2021, arXiv:2101.12176). If a mode grows at some curvature, the largest
  /// curvature without growth counts: training does not stay beyond it (Cohen et al. 2021,
  /// arXiv:2103.00065).
  std::vector<MeanPush> push(const QuadraticFleet& fleet,
                             const RateCourse& course,
                             std::uint64_t rounds) const;
  std::vector<MeanPush> push(const QuadraticFleet& fleet, std::uint64_t rounds) const;
  const LocalModel& model() const { return model_; }

 private:
  struct Power {
    double others = 0, mean = 0;  ///< all modes but the mean's; the mean's
  };
  /// A fleet at some round.
  struct Moment {
    QuadraticFleet fleet;
    std::vector<RateStretch> epochs, rounds;  ///< whole epochs until now; all rounds until now
    double epoch_batches = 0;
  };
  Moment moment(const QuadraticFleet& f, const RateCourse& course, std::uint64_t rounds) const;
  Power noise_of(std::size_t share, const Moment& m, double h) const;
  double pull_of(std::size_t pull, const CurvatureShare& share, const Moment& m) const;
  double stable_curvature(double h, const QuadraticFleet& f) const;
  double response(double h, const Moment& m) const;
  double cancelled(double h, const QuadraticFleet& f) const;
  void add_variance(std::vector<MeanPush>& push, const Moment& m) const;
  void add_sampled(std::vector<MeanPush>& push, const Moment& m) const;
  void add_lasting(std::vector<MeanPush>& push, const QuadraticFleet& f) const;
  void add_noise(Stationary& s, const Moment& m) const;
  void add_pulls(Stationary& s, const Moment& m) const;
  double clamp_curvature(double curvature) const;

  PullModes modes_;
  std::vector<Mode> distinct_;  ///< modes_ with equal ones together
  LocalModel model_;
  std::vector<std::vector<double>> powers_;  ///< powers of each pull
  double least_ = 1e-12;                     ///< curvature: below, directions count as flat
};

}  // namespace gv
