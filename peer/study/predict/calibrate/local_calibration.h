#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "graph/predict/local.h"
#include "optim/models/objective.h"
#include "peer/study/predict/calibrate/krylov.h"

namespace gv {

/// f_i of each peer.
using PeerObjectives = std::span<const std::unique_ptr<Objective>>;

/// Returns the loss and gradient of f over its next `samples` samples, in parts of a few hundred,
/// because thousands at once take gigabytes. Equals value_and_gradient but for the last digits.
double gradient_in_parts(Objective& f,
                         std::span<const float> x,
                         std::uint32_t samples,
                         std::span<float> g);

/// sum <- sum + factor v.
void add_floats(std::span<double> sum, double factor, std::span<const float> v);

/// Peers' gradients near a point x.
struct DisplacedGradients {
  std::size_t peers = 0;
  /// Returns the gradient of peer i at x + offset, on the same samples each time.
  std::function<const std::vector<float>&(std::size_t i, const Doubles& offset)> at;
};

/// Returns H v for the mean of f_i at x, by central differences.
Doubles curvature_product(const DisplacedGradients& gradients, const Doubles& v);

/// Gradients of f = mean of the peers' f_i at one point x; the same ones in each call. An objective
/// without samples (the quadratic oracle) uses a mean of some draws as its full gradient.
class PeerGradients {
 public:
  /// `batch`: samples per draw. `draws` and `curvature_samples`: of all peers together. The peers
  /// must outlive this object, whose destructor restores their streams.
  PeerGradients(PeerObjectives peers,
                std::span<const float> x,
                std::uint32_t batch,
                std::size_t draws,
                std::uint32_t curvature_samples);

  ~PeerGradients();
  PeerGradients(const PeerGradients&) = delete;
  PeerGradients& operator=(const PeerGradients&) = delete;

  std::size_t size() const { return x_.size(); }                ///< d
  std::size_t peers() const { return peers_.size(); }           ///< n
  std::size_t draws() const { return draws_; }                  ///< draws per peer
  bool exact() const { return peers_.front()->samples() > 0; }  ///< full gradients are exact
  /// Returns minibatches per pass over a peer's samples, mean over peers; 0: always fresh.
  double epoch() const;

  struct Full {
    double loss = 0;
    Doubles gradient;
  };
  Full full(std::size_t i);

  /// Calls use(xi) with the deviations of minibatch gradients from `full[i]` times sqrt(freshness),
  /// so that they have the variance of fresh samples.
  void each_draw(std::span<const Doubles> full, const std::function<void(const Doubles&)>& use);

  /// Returns gradients over one frozen batch per peer; `samples`: of all peers together.
  DisplacedGradients displaced(std::uint32_t samples);
  Doubles hessian_times(const Doubles& v) {
    return curvature_product(displaced(curvature_samples_), v);
  }

 private:
  void rewind(std::size_t i) const;
  double gradient(std::size_t i, std::uint32_t batch);
  double freshness(std::size_t i) const;
  std::uint32_t batch_of(std::size_t i, std::uint32_t samples) const;

  PeerObjectives peers_;
  std::vector<float> x_;
  std::uint32_t batch_;
  std::size_t draws_;
  std::uint32_t curvature_samples_;
  std::vector<std::vector<std::byte>> streams_;  ///< initial state of each peer's stream
  std::vector<float> g_;                         ///< result of the last gradient()
};

/// The mean of the peers' gradients at any x over one frozen batch per peer: as a function of x, it
/// is the gradient of one objective. The peers must outlive this object, whose destructor restores
/// their streams.
class FrozenGradient {
 public:
  /// `samples`: maximum samples per peer.
  FrozenGradient(PeerObjectives peers, std::uint32_t samples);
  ~FrozenGradient();
  FrozenGradient(const FrozenGradient&) = delete;
  FrozenGradient& operator=(const FrozenGradient&) = delete;

  Doubles at(const std::vector<float>& x);

 private:
  void rewind();

  PeerObjectives peers_;
  std::uint32_t samples_;
  std::vector<std::vector<std::byte>> streams_;
};

/// Writes the mean of the peers' next minibatch gradients to g; returns the mean loss.
double mean_gradient(PeerObjectives peers,
                     std::span<const float> x,
                     std::uint32_t batch,
                     std::span<double> g);

/// The effect of distances between peers on the mean of their gradients, beyond that of a common
/// quadratic: with m_i = x_i - x, to second order in m,
///   (1/n) sum_i grad f_i(x_i) - grad f(x) - H mean(m) = (1/n) sum_i (H_i - H) m_i + 1/2 D3f : C,
/// C = (1/n) sum_i m_i m_i^T. The first term exists because a share's Hessian and gradient vary
/// together; the second is the slope of tr(H C) / 2 (C of SGD near an optimum: Mandt, Hoffman &
/// Blei, JMLR 2017).
///
/// All values are inner products with `adjoints`. sources: displacements along one leading axis
/// each, the last along all others. lasting: the effect of pulls d_i, (1/n) sum_i grad f_i(x + m_i)
/// - grad f(x), where m' = -d - H m - m / memory since `age`, so m = -(1 - e^{-r age}) / r d with r
/// = H + 1 / memory; its odd and its even part in m.
using Drift = LocalModel::Drift;

/// `deviations`: d_i = grad f_i - grad f. `others`: vectors outside the leading axes that represent
/// the displacements there. `age`: training time during which the deviations have pulled, possibly
/// infinite. Takes 2 (leading pairs + others + 9) n gradients.
Drift find_drift(const DisplacedGradients& gradients,
                 const LeadingPairs& leading,
                 const std::vector<Doubles>& adjoints,
                 std::vector<Doubles> deviations,
                 const std::vector<Doubles>& others,
                 double age);

struct CalibrationOptions {
  std::uint32_t batch = 32;                ///< b of the training
  std::uint32_t curvature_samples = 4096;  ///< per Hessian-vector product, all peers together
  std::uint32_t drift_samples = 8192;      ///< per displaced gradient, all peers together
  std::size_t steps = 40;                  ///< Lanczos steps for the leading curvatures
  std::size_t probes = 3;                  ///< random vectors outside the leading axes
  std::size_t probe_steps = 8;
  std::size_t draws = 512;  ///< minibatch gradients of all peers together
  double age = std::numeric_limits<double>::infinity();  ///< training time up to x
  std::vector<Doubles> adjoints{};  ///< at x; descent ends here or later (fleet_calibration.h)
};

/// An objective near a point x, f = mean of the peers' f_i, as SGD on it sees it.
struct Calibration {
  double loss = 0;             ///< f(x)
  double gradient_square = 0;  ///< |grad f(x)|^2
  double curvature = 0;        ///< L, the largest eigenvalue of the Hessian
  double trace = 0;            ///< tr H
  double noise = 0;            ///< sigma^2 = tr Sigma of a minibatch gradient with b fresh samples
  double noise_curvature = 0;  ///< tr(H Sigma)
  double spread = 0;           ///< zeta^2 = (1/n) sum_i |grad f_i - grad f|^2
  double epoch = 0;            ///< minibatches per pass over a peer's samples; 0: always fresh
  std::vector<CurvatureShare> noise_parts;  ///< sigma^2 by curvature; sums to it

  /// The peers' deviations d_i = grad f_i - grad f, split by axes. The traces of the parts' inner
  /// products d_i . d_j sum to n zeta^2.
  std::vector<LocalModel::Pull> deviations;
  Drift drift;  ///< along the adjoints; none for one peer, or without samples
};

/// Estimates from the peers' training shares. The objectives must be fresh (their minibatches begin
/// with an epoch) and are left fresh. Minibatch noise: a share's minibatches around its full
/// gradient, corrected for drawing without replacement. Curvature: central differences of gradients
/// over one frozen batch, leading eigenpairs by Lanczos, the rest by stochastic quadrature from
/// samples of the noise (Ubaru, Chen & Saad, SIAM J. Matrix Anal. 2017), the trace beyond the
/// leading pairs by Hutchinson's estimator (Meyer et al. 2021, arXiv:2010.09649). An objective
/// without samples (the quadratic oracle) is averaged over draws / n gradients instead. Throws
/// std::invalid_argument if there are no peers, or if a batch is as large as some share. Memory: (n
/// + steps + probes) d doubles.
Calibration calibrate(PeerObjectives peers,
                      std::span<const float> x,
                      const CalibrationOptions& options,
                      Rng rng);

/// Returns L at x, within a few percent, from 12 products with the Hessian over `samples` samples
/// in total.
double largest_curvature(PeerObjectives peers,
                         std::span<const float> x,
                         std::uint32_t samples,
                         Rng rng);

}  // namespace gv
