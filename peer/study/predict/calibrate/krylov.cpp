#include "peer/study/predict/calibrate/krylov.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Core>

#include "graph/mixing/dense_eigen.h"

namespace gv {
namespace {

/// A V = V T + beta v e^T; A: d x d, V: d x k orthonormal, T: k x k tridiagonal.
struct Factorization {
  std::vector<Doubles> basis;
  Doubles diagonal, side;  ///< side[k] couples k and k + 1; the last is the residual's norm
};

Factorization lanczos(const SymmetricProduct& a, Doubles start, std::size_t steps) {
  Factorization f;
  double norm = std::sqrt(dot(start, start));
  const double exhausted = 1e-10;
  while (f.basis.size() < steps && norm > 0) {
    for (double& value : start) value /= norm;
    f.basis.push_back(std::move(start));
    start = a(f.basis.back());
    f.diagonal.push_back(dot(f.basis.back(), start));
    project_out(start, f.basis);
    project_out(start, f.basis);  // twice is enough (Parlett 1998, section 6.9)
    norm = std::sqrt(dot(start, start));
    f.side.push_back(norm);
    if (norm < exhausted * std::abs(f.diagonal[0])) break;
  }
  return f;
}

EigenPairs solved(const Factorization& f) {
  const auto k = static_cast<Eigen::Index>(f.diagonal.size());
  return tridiagonal_pairs(Eigen::Map<const Eigen::VectorXd>(f.diagonal.data(), k),
                           Eigen::Map<const Eigen::VectorXd>(f.side.data(), k - 1));
}

/// Calls each(f, value, small, j) for every Ritz value. Column j of small (k x k) is the Ritz
/// vector in the basis. Makes no call if the start is zero.
template <class Each>
void for_each_ritz_value(const SymmetricProduct& a, Doubles start, std::size_t steps, Each each) {
  const Factorization f = lanczos(a, std::move(start), steps);
  if (f.basis.empty()) return;
  const EigenPairs ritz = solved(f);
  for (Eigen::Index j = 0; j < ritz.values.size(); ++j) each(f, ritz.values[j], ritz.vectors, j);
}

/// Returns the j-th Ritz vector.
Doubles combined(const Factorization& f, const Eigen::MatrixXd& small, Eigen::Index j) {
  Doubles u(f.basis[0].size());
  for (std::size_t k = 0; k < f.basis.size(); ++k)
    add_scaled(u, small(static_cast<Eigen::Index>(k), j), f.basis[k]);
  return u;
}

}  // namespace

double dot(const Doubles& a, const Doubles& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add_scaled(Doubles& y, double factor, const Doubles& x) {
  for (std::size_t k = 0; k < y.size(); ++k) y[k] += factor * x[k];
}

void project_out(Doubles& v, const std::vector<Doubles>& basis) {
  for (const Doubles& u : basis) add_scaled(v, -dot(u, v), u);
}

LeadingPairs leading_pairs(const SymmetricProduct& a,
                           Doubles start,
                           std::size_t steps,
                           double tolerance) {
  const Factorization f = lanczos(a, std::move(start), steps);
  if (f.basis.empty()) return {};
  const EigenPairs ritz = solved(f);
  const Eigen::VectorXd& values = ritz.values;
  const Eigen::MatrixXd& small = ritz.vectors;
  std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](auto j) { return std::abs(values[j]); });
  const double scale = std::abs(values[order.front()]);
  LeadingPairs pairs;
  for (const Eigen::Index j : order) {
    const double residual = f.side.back() * std::abs(small(small.rows() - 1, j));
    if (residual > tolerance * scale || std::abs(values[j]) <= tolerance * scale) continue;
    pairs.values.push_back(values[j]);
    pairs.vectors.push_back(combined(f, small, j));
  }
  return pairs;
}

LeadingPairs ritz_pairs(const SymmetricProduct& a, Doubles start, std::size_t steps) {
  LeadingPairs pairs;
  for_each_ritz_value(a, std::move(start), steps,
                      [&](const auto& f, double value, const auto& small, auto j) {
                        pairs.values.push_back(value);
                        pairs.vectors.push_back(combined(f, small, j));
                      });
  return pairs;
}

KrylovQuadrature krylov_quadrature(const SymmetricProduct& a, Doubles start, std::size_t steps) {
  KrylovQuadrature q;
  for_each_ritz_value(a, std::move(start), steps,
                      [&](const auto&, double value, const auto& small, auto j) {
                        q.nodes.push_back(value);
                        q.weights.push_back(std::pow(small(0, j), 2));
                      });
  return q;
}

}  // namespace gv
