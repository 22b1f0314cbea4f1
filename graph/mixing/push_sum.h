#pragma once

#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// Averaging over a directed graph whose degrees differ, for which no local rule makes W doubly
/// stochastic: every peer splits what it holds into equal shares for itself and those who hear it,
/// P_ij = 1 / (1 + outdeg_j). x <- P x, w <- P w from w = 1; x / w tends to the mean of x. Kempe,
/// Dobra & Gehrke, "Gossip-based computation of aggregate information", FOCS 2003; under SGD:
/// Assran et al. 2019, arXiv:1811.10792.
struct PushSum {
  double rate = 0;             ///< |lambda_2(P)|: of the distance to the mean per round, in the end
  std::vector<double> perron;  ///< P perron = perron, sums to 1: the limit of w / n
};

/// Throws std::invalid_argument unless t is strongly connected and has at most 512 peers (all
/// eigenvalues are computed).
PushSum push_sum(const Topology& t);

}  // namespace gv
