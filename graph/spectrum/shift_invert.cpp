#include "graph/spectrum/shift_invert.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <Eigen/SparseCholesky>
#include <Spectra/SymEigsSolver.h>

#include "graph/spectrum/lanczos.h"

namespace gv {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// Shows the symbolic analysis, which Eigen keeps to itself.
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
