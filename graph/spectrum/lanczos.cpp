#include "graph/spectrum/lanczos.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Core>

#include "graph/mixing/dense_eigen.h"
#include "graph/mixing/sparse_rows.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void scale(std::vector<double>& v, double factor) {
  for (double& value : v) value *= factor;
}

Eigen::Map<const Eigen::VectorXd> map(const std::vector<double>& v, std::size_t length) {
  return {v.data(), static_cast<Eigen::Index>(length)};
}

}  // namespace

Lanczos::Lanczos(Apply apply, std::vector<double> start)
    : apply_(std::move(apply)),
      previous_(start.size()),
      current_(std::move(start)),
      image_(current_.size()) {
  scale(current_, 1 / std::sqrt(dot(current_, current_)));
}

void Lanczos::extend(std::size_t k) {
  while (steps() < k && !exhausted_) {
    apply_(current_.data(), image_.data());
    const double back = side_.empty() ? 0 : side_.back();
    const double alpha = dot(current_, image_);
    double square = 0;
    for (std::size_t i = 0; i < image_.size(); ++i) {
      image_[i] -= alpha * current_[i] + back * previous_[i];
      square += image_[i] * image_[i];
    }
    const double beta = std::sqrt(square);
    diagonal_.push_back(alpha);
    side_.push_back(beta);
    exhausted_ = beta < 1e-13;
    previous_.swap(current_);
    current_.swap(image_);
    if (!exhausted_) scale(current_, 1 / beta);
  }
}

/// |s_k|, the last component of T's unit eigenvector. The recurrence runs from the last component
/// up: towards the bulk of a converged vector, the stable direction.
double Lanczos::last_component(double value) const {
  double below = 0;
  double here = 1;
  double square = 1;
  for (std::size_t k = steps(); k-- > 1;) {
    const double couples_below = k + 1 < steps() ? side_[k] : 0;
    const double above = ((value - diagonal_[k]) * here - couples_below * below) / side_[k - 1];
    below = std::exchange(here, above);
    square += here * here;
    if (square > 1e200) return 0;
  }
  return 1 / std::sqrt(square);
}

RitzValue Lanczos::end(double value, double next) const {
  const double rounding = 0x1p-52 * static_cast<double>(steps());
  const double residual = side_.back() * last_component(value);
  return {value, rounding + std::min(residual, residual * residual / std::abs(value - next))};
}

Lanczos::Ends Lanczos::ends() const {
  if (steps() == 1) return {end(diagonal_[0], diagonal_[0]), end(diagonal_[0], diagonal_[0])};
  const Eigen::VectorXd values =
      tridiagonal_values(map(diagonal_, steps()), map(side_, steps() - 1));
  const auto k = values.size();
  return {end(values[0], values[1]), end(values[k - 1], values[k - 2])};
}

Lanczos::Quadrature Lanczos::quadrature() const {
  const auto [values, vectors] =
      tridiagonal_pairs(map(diagonal_, steps()), map(side_, steps() - 1));
  Quadrature q;
  for (Eigen::Index j = 0; j < values.size(); ++j) {
    q.nodes.push_back(values[j]);
    q.weights.push_back(std::pow(vectors(0, j), 2));
  }
  return q;
}

std::vector<double> scattered(std::size_t n, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<double> v(n);
  for (double& value : v) value = random.uniform() - 0.5;
  subtract_mean(v.data(), n);
  return v;
}

}  // namespace gv
