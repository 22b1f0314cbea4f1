#pragma once

#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/topology/splitmix.h"

namespace gv {

/// The Base-(k+1) graph: W_0, ..., W_{m-1}, symmetric, at most k neighbours in each, whose product
/// is exact averaging for every n; m <= 2 log_{k+1}(n) + 2. Takezawa et al. 2023, "Beyond
/// exponential graph: communication-efficient topologies for decentralized learning via finite-time
/// convergence", arXiv:2305.11420. k >= 1.
std::vector<MixingMatrix> base_graph(PeerId n, PeerId k);

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

// Common parts of schedules in which a peer averages with at most one other per round.

/// Returns the generator of one round, which is the same on every peer.
SplitMix generator_of(std::uint64_t seed, std::uint64_t round);
/// Returns a row that averages with `partner` by `weight`; partner i itself means none.
Neighborhood pair_row(PeerId i, PeerId partner, double weight);

}  // namespace gv
