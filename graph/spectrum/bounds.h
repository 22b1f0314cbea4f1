#pragma once

#include "graph/topology/topology.h"

namespace gv {

/// What the worst case allows. None of this predicts a run: Lian's bound asks for 1e8 iterations
/// where a ring of 16 follows all-reduce within a few percent from the second epoch on.
struct LianProblem {
  PeerId peers = 1;
  double lipschitz = 1;   ///< L
  double noise = 1;       ///< sigma^2: variance of a gradient, all coordinates together
  double difference = 0;  ///< varsigma^2: mean squared difference of the peers' gradients
  double distance = 1;    ///< f(0) - f*
};

/// Iterations that suffice for the linear speed-up of Lian et al. 2017 (arXiv:1705.09056),
/// Corollary 2, the larger of its two conditions: "sufficient (Lian)".
/// K >= 4 L^4 n^5 / (sigma^6 (f(0) - f* + L)^2) (sigma^2 / (1 - rho) + 9 varsigma^2 / (1 -
/// sqrt(rho))^2)^2 and K >= 72 L^2 n^2 / (sigma^2 (1 - sqrt(rho))^2), with sqrt(rho) = slem.
struct LianBound {
  double speed_up;    ///< the first
  double small_step;  ///< the second
};
LianBound lian_sufficient_iterations(const LianProblem& problem, double gap);

/// The mean squared gradient that Corollary 2 promises after K such iterations. From Theorem 1 the
/// corollary's constant comes out as 6 L, not 4 L; the larger is taken.
double lian_gradient_bound(const LianProblem& problem, double iterations);

/// Orders, without constants, of the iterations before the noise of n peers dominates everything
/// else: n^3 / p^2 with equal data, n^3 / p^4 with unequal, p = 1 - slem^2 (Koloskova et al. 2020,
/// arXiv:2003.10422, Theorem 2, non-convex; Ying et al. 2021, arXiv:2110.13363, table 1), and n /
/// (1 - slem)^2 for strongly convex problems with decreasing steps (Pu, Olshevsky & Paschalidis
/// 2020, arXiv:1906.02702).
struct TransientOrders {
  double equal_data, unequal_data, strongly_convex;
};
TransientOrders transient_orders(PeerId n, double gap);

}  // namespace gv
