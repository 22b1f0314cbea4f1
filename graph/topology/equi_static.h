#pragma once

#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// The shifts of the circle that EquiTopo draws from: `shifts` random ones, with replacement, or
/// (0) all of 1 .. n - 1. None for n = 1. Song et al. 2022, arXiv:2210.07881.
std::vector<PeerId> circle_shifts(PeerId n, PeerId shifts, std::uint64_t seed);

}  // namespace gv
