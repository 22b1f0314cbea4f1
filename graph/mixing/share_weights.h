#pragma once

#include <cstdint>
#include <functional>
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

/// The word that a fleet file's `weights` has instead of a rule for W.
inline constexpr std::string_view push_sum_weights = "push-sum";

/// The rows of P below: what peer i makes of what it hears, and who hears it. Columns sum to 1,
/// rows as a rule do not.
std::vector<Neighborhood> push_sum_rows(const Topology& t);

/// Returns whether these are the shares that push-sum would give: what a peer keeps and what it
/// gives to each who hears it are equal within 1e-6.
bool shares_evenly(const MixingMatrix& w);

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

/// To whom peer i pushes in a round.
using ReceiversOf = std::function<std::vector<PeerId>(std::uint64_t round, PeerId i)>;

/// Returns the least weight w that each of n peers has in undisturbed rounds of push-sum once they
/// have settled, but at most 1, the weight of the start. What is pushed in round t counts at the
/// end of round t + overlap. Found by iteration of w <- P w, for so many rounds as 4 million pushes
/// are.
std::vector<double> least_weights(PeerId n, std::uint64_t overlap, const ReceiversOf& receivers_of);

}  // namespace gv
