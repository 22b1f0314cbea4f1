#pragma once

#include <memory>

#include "graph/schedule/schedule.h"
#include "graph/topology/splitmix.h"

namespace gv {

/// Round t: i hears i - 2^{t mod tau}, weights 1/2, tau = ceil(log2 n). Directed. The product over
/// a period is exact averaging when n is a power of two. Ying et al. 2021, arXiv:2110.13363.
std::unique_ptr<MixingSchedule> one_peer_exponential(PeerId n);

/// Every round a matching of all peers, uniformly at random, weights 1/2 (Boyd, Ghosh, Prabhakar &
/// Shah, "Randomized gossip algorithms", 2006, in its synchronous form); n odd leaves one peer out.
std::unique_ptr<MixingSchedule> random_matching(PeerId n, std::uint64_t seed);

/// The generator of one round: every peer draws the same.
SplitMix generator_of(std::uint64_t seed, std::uint64_t round);
/// A row that averages with `partner` by `weight`; i itself: nobody.
Neighborhood pair_row(PeerId i, PeerId partner, double weight);

}  // namespace gv
