#include "graph/mixing/extreme_pairs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Core>

#include "graph/mixing/dense_eigen.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr PeerId dense_limit = 64;
constexpr Index most_vectors = 40;

std::vector<double> to_vector(const VectorXd& x) {
  return {x.data(), x.data() + x.size()};
}

VectorXd to_eigen(const std::vector<double>& x) {
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
}

ExtremePairs dense_pairs(Index n, const SymmetricOperator& apply) {
  MatrixXd m(n, n);
  const MatrixXd unit = MatrixXd::Identity(n, n);
  for (Index c = 0; c < n; ++c) apply(unit.col(c).data(), m.col(c).data());
  // Far above the rest (Gershgorin), the all-ones vector is the last one.
  const double far = 4 + 4 * m.cwiseAbs().rowwise().sum().maxCoeff();
  m.array() += far / static_cast<double>(n);
  const auto [values, vectors] = symmetric_pairs(m);
  return {.lambda2 = values[n - 2],
          .lambda_n = values[0],
          .v2 = to_vector(vectors.col(n - 2)),
          .vn = to_vector(vectors.col(0)),
          .residual = 0};
}

VectorXd noise(PeerId n, SplitMix& rng) {
  VectorXd x(static_cast<Index>(n));
  for (double& value : x) value = rng.uniform() - 0.5;
  x.array() -= x.mean();
  return x.normalized();
}

struct Krylov {
  MatrixXd basis;  ///< n x m, orthonormal, orthogonal to the all-ones vector
  VectorXd diagonal, off_diagonal;
  double beta = 0;  ///< norm of what the last product had outside the basis
};

Krylov lanczos(const SymmetricOperator& apply, VectorXd q, Index m) {
  Krylov k{MatrixXd(q.size(), m), VectorXd(m), VectorXd(m), 0};
  q.array() -= q.mean();
  q.normalize();
  VectorXd next(q.size());
  for (Index j = 0; j < m; ++j) {
    k.basis.col(j) = q;
    apply(q.data(), next.data());
    next.array() -= next.mean();
    k.diagonal[j] = q.dot(next);
    const auto so_far = k.basis.leftCols(j + 1);
    for (int pass = 0; pass < 2; ++pass) next -= so_far * (so_far.transpose() * next);
    k.beta = next.norm();
    k.off_diagonal[j] = k.beta;
    if (k.beta < 1e-13) {  // an invariant subspace: exact
      k.basis.conservativeResize(Eigen::NoChange, j + 1);
      k.diagonal.conservativeResize(j + 1);
      break;
    }
    q = next / k.beta;
    // The all-ones vector may lie outside the rest of the spectrum: rounding must not feed it.
    q.array() -= q.mean();
  }
  return k;
}

/// The Ritz pairs at both ends.
void take_pairs(const Krylov& k, ExtremePairs& pairs) {
  const Index m = k.diagonal.size();
  const auto [values, vectors] = tridiagonal_pairs(k.diagonal, k.off_diagonal.head(m - 1));
  pairs.lambda2 = values[m - 1];
  pairs.lambda_n = values[0];
  pairs.v2 = to_vector(k.basis * vectors.col(m - 1));
  pairs.vn = to_vector(k.basis * vectors.col(0));
  pairs.residual = k.beta * std::max(std::abs(vectors(m - 1, m - 1)), std::abs(vectors(m - 1, 0)));
}

}  // namespace

SymmetricOperator edge_weighted(PeerId n,
                                const std::vector<Edge>& edges,
                                const std::vector<double>& w) {
  return [n, &edges, &w](const double* x, double* y) {
    std::copy(x, x + n, y);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto [u, v] = edges[e];
      const double flow = w[e] * (x[u] - x[v]);
      y[u] -= flow;
      y[v] += flow;
    }
  };
}

double ExtremePairs::slem() const {
  return std::max(std::abs(lambda2), std::abs(lambda_n));
}

ExtremePairs extreme_pairs(PeerId n,
                           const SymmetricOperator& apply,
                           const ExtremePairs& warm,
                           double tolerance,
                           int most_restarts) {
  if (n <= dense_limit) return dense_pairs(static_cast<Index>(n), apply);
  // A little of everything: a start that shares a symmetry of the graph would never leave it.
  SplitMix rng(n);
  ExtremePairs pairs = warm;
  VectorXd start = noise(n, rng);
  if (!warm.v2.empty()) start = to_eigen(warm.v2) + to_eigen(warm.vn) + 0.05 * start;
  for (int restart = 0; restart <= most_restarts; ++restart) {
    const Krylov k = lanczos(apply, std::move(start), most_vectors);
    take_pairs(k, pairs);
    if (pairs.residual < tolerance) break;
    start = to_eigen(pairs.v2) + to_eigen(pairs.vn);
  }
  return pairs;
}

}  // namespace gv
