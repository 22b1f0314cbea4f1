#pragma once

#include <functional>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// y = A x of a symmetric A of which the all-ones vector is an eigenvector; no aliasing.
using SymmetricOperator = std::function<void(const double* x, double* y)>;

/// W = I - sum_e w_e L_e on an undirected graph: symmetric, rows and columns sum to 1 for every w.
/// One weight per edge, may be negative. Keeps references.
SymmetricOperator edge_weighted(PeerId n,
                                const std::vector<Edge>& edges,
                                const std::vector<double>& w);

/// The largest and the smallest eigenvalue of A on the complement of the all-ones vector, each with
/// a unit eigenvector of length n.
struct ExtremePairs {
  double lambda2 = 0;
  double lambda_n = 0;
  std::vector<double> v2;
  std::vector<double> vn;
  double residual = 0;  ///< the larger of ||A v - lambda v||; 0: dense

  double slem() const;  ///< max(|lambda2|, |lambda_n|)
};

/// Dense up to 64 peers, where it is exact. Beyond: Lanczos (Golub & Van Loan, "Matrix
/// Computations", 2013, chapter 10) with full orthogonalization, started from `warm` (the pairs of
/// an A close to this one; empty: none) and restarted until both residuals are below `tolerance` or
/// `most_restarts` are used. The values then lie inside the spectrum, off by at most the residual.
/// Needs n >= 2.
ExtremePairs extreme_pairs(PeerId n,
                           const SymmetricOperator& apply,
                           const ExtremePairs& warm,
                           double tolerance,
                           int most_restarts);

}  // namespace gv
