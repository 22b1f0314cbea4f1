#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/predict/local.h"
#include "peer/study/predict/calibrate/krylov.h"
#include "peer/study/predict/calibrate/peer_gradients.h"

namespace gv {

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
