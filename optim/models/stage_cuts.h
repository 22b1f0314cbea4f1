#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/models/network_cut.h"

// Which of its places a network is cut at: those that somebody names, or those that make stages of
// equal work.

namespace gv {

/// The places between stages that begin with these modules, the first of which is the network's.
/// Throws std::invalid_argument for any others: it says what they should be, or the nearest module
/// with which a stage may begin.
std::vector<Cut> cuts_before(const NeuralNetwork& network, const std::vector<std::string>& stages);

/// Makes so many stages, of which the largest has as few flops as may be; of cuts that are equally
/// good, the earlier. Throws std::invalid_argument for none and for more than there may be.
std::vector<Cut> equal_cuts(const NeuralNetwork& network, std::uint32_t stages);

}  // namespace gv
