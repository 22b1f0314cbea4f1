#pragma once

#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// Edges of which no two share a peer: all can be used at the same time.
using Matching = std::vector<Edge>;

/// The edges of an undirected graph in at most deg_max + 1 matchings, each sorted: an edge
/// colouring by Misra & Gries, "A constructive proof of Vizing's theorem", Information Processing
/// Letters 1992. Throws std::invalid_argument when t is directed.
std::vector<Matching> matching_decomposition(const Topology& t);

/// MATCHA: Wang, Sahu, Yang, Joshi & Kar 2019, "MATCHA: speeding up decentralized SGD via matching
/// decomposition sampling", arXiv:1905.09435. Each round matching j is active with probability p_j,
/// independently, and W = I - alpha sum of the active matchings' Laplacians.
struct Matcha {
  std::vector<Matching> matchings;  ///< see matching_decomposition
  std::vector<double> probability;  ///< p_j, maximizing lambda_2(sum_j p_j L_j)
  double alpha = 0;                 ///< minimizing the contraction
  double contraction = 1;           ///< ||E[W^T W] - J||_2
  /// Maximum excess of the true contraction: 0 up to 64 peers, else the error of Lanczos.
  double contraction_error = 0;
};

/// `budget` in (0, 1]: sum_j p_j <= budget * matchings; 1 is the whole graph in every round. Throws
/// std::invalid_argument unless t is undirected and connected.
Matcha matcha(const Topology& t, double budget);

}  // namespace gv
