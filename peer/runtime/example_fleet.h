#pragma once

#include <string>

#include "gossip/algorithm.h"

namespace gv {

/// The text of a small fleet file for this method, with each of its options at its usual value:
/// eight peers, a model that trains in seconds, a ring if the method allows it.
std::string example_fleet(const AlgorithmRow& row);

}  // namespace gv
