#include "graph/spectrum/lanczos.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include <Eigen/Core>
#include <Eigen/SparseCholesky>
#include <Spectra/SymEigsSolver.h>

#include "graph/mixing/dense_eigen.h"
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

using Sparse = Eigen::SparseMatrix<double>;

/// Exposes Eigen's symbolic analysis, which is protected.
class Factor : public Eigen::SimplicialLDLT<Sparse, Eigen::Lower> {
 public:
  FactorCost cost() const {
    FactorCost c;
    for (Eigen::Index j = 0; j < m_nonZerosPerCol.size(); ++j) {
      const double entries = m_nonZerosPerCol[j];
      c.entries += entries;
      c.flops += entries * (entries + 1);
    }
    return c;
  }
  bool positive() const { return info() == Eigen::Success && m_diag.minCoeff() > 0; }
};

double sign(SpectrumEnd end) {
  return end == SpectrumEnd::mixing ? -1 : 1;
}

/// The lower half of I -+ W - shift I. The diagonal of I - W is summed from the weights, so that
/// its rows sum to zero.
Sparse shifted(const SparseRows& w, SpectrumEnd end, double shift) {
  std::vector<double> diagonal(w.size());
  std::vector<Eigen::Triplet<double>> lower;
  lower.reserve(w.entries() / 2 + w.size());
  w.for_each([&](std::size_t i, std::size_t j, double weight) {
    diagonal[i] += weight;
    if (j < i) lower.emplace_back(static_cast<int>(i), static_cast<int>(j), sign(end) * weight);
  });
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double value = end == SpectrumEnd::mixing ? diagonal[i] : 1 + w.self(i);
    lower.emplace_back(static_cast<int>(i), static_cast<int>(i), value - shift);
  }
  const auto n = static_cast<Eigen::Index>(w.size());
  Sparse matrix(n, n);
  matrix.setFromTriplets(lower.begin(), lower.end());
  return matrix;
}

/// The factor of the matrix minus a shift below its smallest eigenvalue; lowers the shift until all
/// pivots are positive (Sylvester's law of inertia). Returns the shift.
double factor_below(Factor& factor, const SparseRows& w, SpectrumEnd end, double above) {
  double shift = end == SpectrumEnd::mixing ? -1e-4 * above : above * (1 - 1e-3);
  factor.analyzePattern(shifted(w, end, 0));
  for (int attempt = 0; attempt < 20; ++attempt) {
    factor.factorize(shifted(w, end, shift));
    if (factor.positive()) return shift;
    shift = above - 4 * (above - shift);
  }
  throw std::runtime_error("shift-invert: no shift below the spectrum near " +
                           std::to_string(above));
}

/// x -> the inverse, applied; for the mixing end on the complement of the all-ones vector.
class Inverse {
 public:
  using Scalar = double;
  Inverse(const Factor& factor, SpectrumEnd end, std::size_t n)
      : factor_(factor), end_(end), n_(n) {}
  Eigen::Index rows() const { return static_cast<Eigen::Index>(n_); }
  Eigen::Index cols() const { return rows(); }
  void perform_op(const double* x, double* y) const {
    Eigen::Map<Eigen::VectorXd> solution(y, rows());
    solution = factor_.solve(Eigen::Map<const Eigen::VectorXd>(x, rows()));
    if (end_ == SpectrumEnd::mixing) subtract_mean(y, n_);
  }

 private:
  const Factor& factor_;
  SpectrumEnd end_;
  std::size_t n_;
};

/// sum_i (A x)_i x_i / x^T x, with the sum taken over edges.
double rayleigh(const SparseRows& w, SpectrumEnd end, const Eigen::VectorXd& x) {
  double sum = 0;
  const auto at = [&](std::size_t i) { return x[static_cast<Eigen::Index>(i)]; };
  w.for_each([&](std::size_t i, std::size_t j, double weight) {
    const double along = at(i) + sign(end) * at(j);
    sum += weight * along * along / 2;
  });
  if (end == SpectrumEnd::alternation) {
    for (std::size_t i = 0; i < w.size(); ++i) sum += 2 * w.self(i) * at(i) * at(i);
  }
  return sum / x.squaredNorm();
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

FactorCost factor_cost(const SparseRows& w) {
  Factor factor;
  factor.analyzePattern(shifted(w, SpectrumEnd::mixing, -1));
  return factor.cost();
}

RitzValue shift_invert(const SparseRows& w, SpectrumEnd end, double above) {
  Factor factor;
  const double shift = factor_below(factor, w, end, above);
  Inverse inverse(factor, end, w.size());
  const auto vectors = std::min<Eigen::Index>(inverse.rows(), 32);
  Spectra::SymEigsSolver<Inverse> solver(inverse, 1, vectors);
  solver.init(scattered(w.size(), 1).data());
  // The shift lies within a thousandth of the alternating end: there 2e-4 of the inverse is 2e-7.
  const double tolerance = end == SpectrumEnd::mixing ? 1e-8 : 2e-4;
  solver.compute(Spectra::SortRule::LargestAlge, 300, tolerance);
  if (solver.info() != Spectra::CompInfo::Successful) {
    throw std::runtime_error("shift-invert Lanczos did not converge in 300 restarts on " +
                             std::to_string(w.size()) + " peers");
  }
  const double value = rayleigh(w, end, solver.eigenvectors().col(0));
  return {value, tolerance * (value - shift)};
}

}  // namespace gv
