#pragma once

#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// The Base-(k+1) graph: W_0, ..., W_{m-1}, symmetric, at most k neighbours in each, whose product
/// is exact averaging for every n; m <= 2 log_{k+1}(n) + 2. Takezawa et al. 2023, "Beyond
/// exponential graph: communication-efficient topologies for decentralized learning via finite-time
/// convergence", arXiv:2305.11420. k >= 1.
std::vector<MixingMatrix> base_graph(PeerId n, PeerId k);

}  // namespace gv
