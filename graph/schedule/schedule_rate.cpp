#include "graph/schedule/schedule_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <Eigen/Core>

#include "graph/mixing/dense_eigen.h"
#include "graph/mixing/optimal_weights.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using Matrices = std::vector<MixingMatrix>;

void center(VectorXd& x) {
  x.array() -= x.mean();
}

VectorXd start_vector(PeerId n) {
  SplitMix rng(n);
  VectorXd x(static_cast<Index>(n));
  for (double& value : x) value = rng.uniform() - 0.5;
  center(x);
  return x.normalized();
}

VectorXd times(const MixingMatrix& w, const VectorXd& x) {
  VectorXd y(x.size());
  w.apply(x.data(), y.data());
  return y;
}

VectorXd transposed_times(const MixingMatrix& w, const VectorXd& x) {
  VectorXd y(x.size());
  w.apply_transposed(x.data(), y.data());
  return y;
}

/// ||W_{m-1} ... W_0 - J||_2 by a dense product.
double dense_product(const Matrices& period) {
  const auto n = static_cast<Index>(period[0].size());
  Eigen::MatrixXd product = Eigen::MatrixXd::Identity(n, n);
  for (const MixingMatrix& w : period) {
    for (Index c = 0; c < n; ++c) product.col(c) = times(w, product.col(c));
  }
  product.array() -= 1.0 / static_cast<double>(n);
  return largest_singular_value(product);
}

/// Finds the norm by Lanczos on the product's Gram matrix. Throws std::runtime_error if the gap is
/// not found within a thousandth.
double lanczos_product(const Matrices& period) {
  const PeerId n = period[0].size();
  const auto gram = [&](const double* x, double* out) {
    VectorXd y = Eigen::Map<const VectorXd>(x, static_cast<Index>(n));
    for (const MixingMatrix& w : period) y = times(w, y);
    for (auto w = period.rbegin(); w != period.rend(); ++w) y = transposed_times(*w, y);
    std::copy(y.begin(), y.end(), out);
  };
  const ExtremePairs found = extreme_pairs(n, gram, {}, 1e-13, 200);
  if (found.residual > 1e-3 * (1 - found.lambda2) && found.residual > 1e-12) {
    throw std::runtime_error("schedule: Lanczos on the product over a period of " +
                             std::to_string(n) + " peers did not converge");
  }
  return std::sqrt(std::max(0.0, found.lambda2));
}

ScheduleRate periodic_rate(const MixingSchedule& schedule) {
  Matrices period;
  for (std::uint64_t k = 0; k < schedule.period(); ++k) period.push_back(schedule.matrix(k));
  ScheduleRate rate;
  rate.period = schedule.period();
  if (period.size() == 1) {
    const Spectrum s = spectrum(period[0]);
    rate.product = s.slem;
    rate.method = s.method;
  } else {
    rate.product = schedule.size() <= 512 ? dense_product(period) : lanczos_product(period);
    rate.method = "product";
  }
  if (rate.product < 1e-12) rate.product = 0;  // rounding
  rate.per_round = std::pow(rate.product, 1.0 / static_cast<double>(rate.period));
  return rate;
}

/// Returns the direction that contracts least on the mean of the given rounds: power iterations on
/// the mean of W^T W.
VectorXd worst_direction(const Matrices& rounds, PeerId n) {
  VectorXd x = start_vector(n);
  for (int k = 0; k < 100; ++k) {
    VectorXd sum = VectorXd::Zero(x.size());
    for (const MixingMatrix& w : rounds) sum += transposed_times(w, times(w, x));
    center(sum);
    if (sum.norm() < 1e-300) break;
    const double change = (sum.normalized() - x).norm();
    x = sum.normalized();
    if (change < 1e-6) break;
  }
  return x;
}

}  // namespace

double ScheduleRate::rounds_to(double target) const {
  if (per_round <= 0) return static_cast<double>(std::max<std::uint64_t>(1, period));
  if (per_round >= 1) return std::numeric_limits<double>::infinity();
  return std::ceil(std::log(target) / std::log(per_round));
}

ScheduleRate estimated_rate(const MixingSchedule& schedule, int samples) {
  const auto half = static_cast<std::uint64_t>(std::max(2, samples / 2));
  // The direction needs fewer rounds than the mean: it enters to second order.
  Matrices first;
  for (std::uint64_t k = 0; k < std::min<std::uint64_t>(half, 500); ++k)
    first.push_back(schedule.matrix(k));
  const VectorXd x = worst_direction(first, schedule.size());
  double sum = 0;
  double squares = 0;
  for (std::uint64_t k = half; k < 2 * half; ++k) {
    VectorXd y = times(schedule.matrix(k), x);
    center(y);
    sum += y.squaredNorm();
    squares += y.squaredNorm() * y.squaredNorm();
  }
  const auto count = static_cast<double>(half);
  ScheduleRate rate;
  rate.kappa = sum / count;
  rate.kappa_error =
      std::sqrt(std::max(0.0, squares / count - rate.kappa * rate.kappa) / (count - 1));
  rate.per_round = std::sqrt(rate.kappa);
  rate.method = std::to_string(2 * half) + " samples";
  return rate;
}

ScheduleRate schedule_rate(const MixingSchedule& schedule, int samples) {
  if (schedule.period() > 0) return periodic_rate(schedule);
  const std::optional<double> kappa = schedule.contraction();
  if (!kappa) return estimated_rate(schedule, samples);
  ScheduleRate rate;
  rate.kappa = *kappa;
  rate.kappa_error = schedule.contraction_error();
  rate.per_round = std::sqrt(*kappa);
  rate.method = rate.kappa_error > 0 ? "lanczos" : "exact";
  return rate;
}

}  // namespace gv
