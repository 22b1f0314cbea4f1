#pragma once

#include <functional>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/topology/topology.h"

namespace gv {

/// Weights for fast averaging of a given graph: Xiao & Boyd, "Fast linear iterations for
/// distributed averaging", Systems & Control Letters 2004. All need an undirected, connected graph
/// and throw std::invalid_argument otherwise. They push lambda_n down to about -slem, so in the
/// order of arXiv:1705.09056 (gradient at the model before mixing) a stable rate falls to
/// (1 + lambda_n) / L.
/// One build always computes the same bits; peers of different builds should share an exported W.

/// One weight for every edge, alpha = 2 / (mu_1 + mu_{n-1}) with the smallest nonzero and the
/// largest Laplacian eigenvalue. Optimal over all w on edge-transitive graphs: ring, hypercube,
/// complete, star, square torus. May leave a negative weight on a peer itself.
MixingMatrix best_constant(const Topology& t);

/// Minimizes slem over all edge weights (fastest distributed linear averaging): weights may be
/// negative. `iterations` 0: chosen by the number of edges, a thousand up to 5,000 edges.
MixingMatrix fdla(const Topology& t, int iterations = 0);

/// Minimizes slem over weights that are not negative, on peers themselves too: the fastest mixing
/// Markov chain. Boyd, Diaconis & Xiao, SIAM Review 2004.
MixingMatrix fmmc(const Topology& t, int iterations = 0);

/// y = A x for a symmetric A that has the all-ones vector as an eigenvector; no aliasing.
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

/// Dense and exact up to 64 peers. Above: Lanczos (Golub & Van Loan, "Matrix Computations", 2013,
/// chapter 10) with full orthogonalization, started from `warm` (the pairs of an A close to this
/// one, or empty) and restarted until both residuals are below `tolerance` or `most_restarts` are
/// used. The values then lie inside the spectrum, off by at most the residual. Needs n >= 2.
ExtremePairs extreme_pairs(PeerId n,
                           const SymmetricOperator& apply,
                           const ExtremePairs& warm,
                           double tolerance,
                           int most_restarts);

}  // namespace gv
