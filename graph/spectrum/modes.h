#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/topology/family.h"
#include "graph/topology/topology.h"

namespace gv {

/// An eigenvalue of W, or of each W_t of a periodic sequence that shares its eigenvectors; or, with
/// a variance, of a W drawn again in every round (see schedule_modes).
struct Mode {
  std::vector<std::complex<double>> values;  ///< one per matrix of the period; a mean when random
  double count = 1;                          ///< number of equal modes
  double variance = 0;                       ///< E |lambda|^2 - |E lambda|^2

  /// E |lambda_t|^2.
  double square(std::size_t t) const { return std::norm(values[t]) + variance; }
};

/// A value and its standard error (0 when exact).
struct Estimate {
  double value = 0;
  double error = 0;
};

/// All modes of W but the mean's (the all-ones vector, eigenvalue 1). Exact, or several independent
/// estimates of the same distribution, each with counts that sum to n - 1.
struct Modes {
  PeerId peers = 0;
  std::vector<std::vector<Mode>> samples;  ///< one when exact
  std::vector<std::vector<Mode>> coarse;   ///< from half the work; empty when exact
  std::string method;  ///< "closed form" | "dense" | "stochastic trace" | "expectation"

  std::size_t period() const { return samples[0].empty() ? 1 : samples[0][0].values.size(); }
  /// Returns the sum of f over the modes. The error is the standard error plus the deviation of the
  /// coarse modes, which shows slow modes that the estimate does not resolve, if f grows towards 1.
  Estimate sum(const std::function<double(const Mode&)>& f) const;
};

/// Closed form if there is one, dense up to 4096 peers, stochastic_modes above. A directed W must
/// be normal (every circulant is). Throws std::invalid_argument if it is not, or if it is too large
/// to check.
Modes modes_of(const MixingMatrix& w,
               const TopologySpec* spec = nullptr,
               std::string_view weights = "metropolis");

/// All eigenvalues of a family that has a formula for them (see graph/topology/family.h).
std::optional<Modes> closed_form_modes(const TopologySpec& spec,
                                       PeerId n,
                                       std::string_view weights);
Modes dense_modes(const MixingMatrix& w);
/// Stochastic Lanczos quadrature: `probes` random vectors, `steps` Lanczos steps each. Ubaru, Chen
/// & Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos quadrature", SIAM J. Matrix Anal.
/// 2017. Undirected W only.
Modes stochastic_modes(const MixingMatrix& w, int probes, std::size_t steps);

/// S1 of a graph, (1/n) sum over the modes off the mean of 1 / (1 - lambda^2), however slow: half
/// the traces of (I - W)^+ and (I + W)^-1. The first is tr G - 1^T G 1 / n, with G the inverse of
/// I - W without its last peer. The diagonals of inverses follow from a sparse LDL^T factor without
/// the rest: Takahashi, Fagan & Chen, "Formation of a sparse bus impedance matrix and its
/// application to short circuit study", PICA 1973; Erisman & Tinney, "On computing certain elements
/// of the inverse of a sparse matrix", Comm. ACM 1975. Undirected W only. Empty when the factor
/// would take more than `most_flops`, when lambda_n is -1 or when the graph is in pieces.
std::optional<Estimate> selected_s1(const SparseRows& w, double most_flops = 3e9);

/// Orders, without constants, of the iterations before the noise of n peers dominates everything
/// else: n^3 / p^2 with equal data, n^3 / p^4 with unequal, p = 1 - slem^2 (Koloskova et al. 2020,
/// arXiv:2003.10422, Theorem 2, non-convex; Ying et al. 2021, arXiv:2110.13363, table 1), and n /
/// (1 - slem)^2 for strongly convex problems with decreasing steps (Pu, Olshevsky & Paschalidis
/// 2020, arXiv:1906.02702). They bound the worst case and do not predict a run.
struct TransientOrders {
  double equal_data, unequal_data, strongly_convex;
};
TransientOrders transient_orders(PeerId n, double gap);

}  // namespace gv
