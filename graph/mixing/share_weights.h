#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// The word that a fleet file's `weights` has instead of a rule for a doubly stochastic W.
inline constexpr std::string_view share_weights = "shares";

// Averaging in which peers count by shares p_i > 0 of sum n, and not alike: W is row-stochastic,
// and its fixed mean is sum_i p_i x_i / n. p_i W_ij = p_j W_ji = min(p_i / (1 + deg_i), p_j / (1 +
// deg_j)): Metropolis' and Hastings' rule for the distribution p / n (Hastings, "Monte Carlo
// sampling methods using Markov chains and their applications", Biometrika 57, 1970), which with
// equal shares is metropolis(). D-PSGD on it follows the mean of the gradients by p: Liu, Kong, Lu,
// Yuan & Zhao, "Row-stochastic matrices can provably outperform doubly stochastic matrices in
// decentralized learning", 2025, arXiv:2511.19513, who compare it with gradients that are weighted
// beforehand (train.peer_weights); that the rule is Hastings' is our choice.

/// Row i for peer i: `self` is W_ii, and `weights` are p_i W_ij, the same at both ends of an edge,
/// of which each end divides what moves it by its own share. Throws std::invalid_argument unless t
/// is undirected and has a share above 0 for each peer.
std::vector<Neighborhood> share_rows(const Topology& t, std::span<const double> shares);

}  // namespace gv
