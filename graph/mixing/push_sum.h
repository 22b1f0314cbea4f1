#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

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
