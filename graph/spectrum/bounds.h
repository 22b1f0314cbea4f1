#pragma once

#include "graph/topology/topology.h"

namespace gv {

/// Orders, without constants, of the iterations before the noise of n peers dominates everything
/// else: n^3 / p^2 with equal data, n^3 / p^4 with unequal, p = 1 - slem^2 (Koloskova et al. 2020,
/// arXiv:2003.10422, Theorem 2, non-convex; Ying et al. 2021, arXiv:2110.13363, table 1), and n /
/// (1 - slem)^2 for strongly convex problems with decreasing steps (Pu, Olshevsky & Paschalidis
/// 2020, arXiv:1906.02702). They are what the worst case allows, and predict no run.
struct TransientOrders {
  double equal_data, unequal_data, strongly_convex;
};
TransientOrders transient_orders(PeerId n, double gap);

}  // namespace gv
