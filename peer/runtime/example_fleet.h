#pragma once

#include <string>

#include "gossip/algorithm.h"

namespace gv {

/// The text of a small fleet file in which this method can run, with each of its options at its
/// usual value: eight peers, a model that takes seconds to train, a ring where the method allows.
std::string example_fleet(const AlgorithmRow& row);

}  // namespace gv
