#pragma once

#include "graph/mixing/mixing.h"

namespace gv {

/// Weights for fast averaging of a given graph: Xiao & Boyd, "Fast linear iterations for
/// distributed averaging", Systems & Control Letters 2004. All need an undirected, connected graph
/// and throw std::invalid_argument otherwise. They push lambda_n down to about -slem, so in the
/// order of arXiv:1705.09056 (gradient at the model before mixing) a stable rate falls to
/// (1 + lambda_n) / L.
/// The same build computes the same bits; peers of different builds should share an exported W.

/// One weight for every edge, alpha = 2 / (mu_1 + mu_{n-1}) with the smallest nonzero and the
/// largest Laplacian eigenvalue. Optimal over all w on edge-transitive graphs: ring, hypercube,
/// complete, star, square torus. May leave a negative weight on a peer itself.
MixingMatrix best_constant(const Topology& t);

/// Minimizes slem over all edge weights (fastest distributed linear averaging): weights
/// may be negative. `iterations` 0: as many as are worth their time, a thousand up to 5,000 edges.
MixingMatrix fdla(const Topology& t, int iterations = 0);

/// Minimizes the same over weights that are not negative, on peers themselves too: the fastest
/// mixing Markov chain. Boyd, Diaconis & Xiao, SIAM Review 2004.
MixingMatrix fmmc(const Topology& t, int iterations = 0);

}  // namespace gv
