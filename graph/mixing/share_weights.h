#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/topology/topology.h"

namespace gv {

/// Word for this rule as a fleet file's `weights`, instead of a doubly stochastic W's rule.
inline constexpr std::string_view share_weights = "shares";

// Averaging in which peers count by shares p_i > 0 with sum n: W is row-stochastic, and its fixed
// mean is sum_i p_i x_i / n. p_i W_ij = p_j W_ji = min(p_i / (1 + deg_i), p_j / (1 + deg_j)):
// Metropolis' and Hastings' rule for the distribution p / n (Hastings, "Monte Carlo sampling
// methods using Markov chains and their applications", Biometrika 57, 1970), which with equal
// shares is metropolis(). D-PSGD on it follows the mean of the gradients by p: Liu, Kong, Lu, Yuan
// & Zhao, "Row-stochastic matrices can provably outperform doubly stochastic matrices in
// decentralized learning", 2025, arXiv:2511.19513; they compare it with gradients that are weighted
// beforehand (train.peer_weights); the choice of Hastings' rule is ours.

/// Returns row i for peer i: `self` is W_ii, and `weights` are p_i W_ij, the same at both ends of
/// an edge; each end divides its move by its own share. Throws std::invalid_argument unless t is
/// undirected and has a share above 0 for each peer.
std::vector<Neighborhood> share_rows(const Topology& t, std::span<const double> shares);

/// Word for push-sum as a fleet file's `weights`.
inline constexpr std::string_view push_sum_weights = "push-sum";

/// Returns the rows of P below: for peer i the weights of received values, and its receivers.
/// Columns sum to 1, rows in general do not.
std::vector<Neighborhood> push_sum_rows(const Topology& t);

/// Returns whether these are push-sum's shares: each peer keeps and gives to each receiver the same
/// share within 1e-6.
bool shares_evenly(const MixingMatrix& w);

/// Averaging over a directed graph whose degrees differ, for which no local rule makes W doubly
/// stochastic: every peer splits its value into equal shares for itself and its receivers: P_ij =
/// 1 / (1 + outdeg_j). x <- P x, w <- P w from w = 1; x / w tends to the mean of x. Kempe, Dobra &
/// Gehrke, "Gossip-based computation of aggregate information", FOCS 2003; under SGD: Assran et al.
/// 2019, arXiv:1811.10792.
struct PushSum {
  double rate = 0;  ///< |lambda_2(P)|: asymptotic factor of the distance to the mean per round
  std::vector<double> perron;  ///< P perron = perron, sums to 1: the limit of w / n
};

/// Throws std::invalid_argument unless t is strongly connected and has at most 512 peers (all
/// eigenvalues are computed).
PushSum push_sum(const Topology& t);

/// Returns the peers that peer i pushes to in a round.
using ReceiversOf = std::function<std::vector<PeerId>(std::uint64_t round, PeerId i)>;

/// Returns the least weight w that each of n peers has in undisturbed rounds of push-sum once they
/// have settled, but at most 1, the weight of the start. Pushes of round t count at the end of
/// round t + overlap. Found by iteration of w <- P w, for 4 million pushes or 20,000 rounds, but at
/// least 64 rounds.
std::vector<double> least_weights(PeerId n, std::uint64_t overlap, const ReceiversOf& receivers_of);

/// The largest |eigenvalue| of the W of share_rows, but for the 1 of its fixed mean. Throws
/// std::invalid_argument for more than 512 peers (all eigenvalues are computed).
double share_rate(const Topology& t, std::span<const double> shares);

}  // namespace gv
