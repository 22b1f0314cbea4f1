#pragma once

#include "gossip/algorithm.h"

namespace gv {

/// Returns whether a fleet of this row with these settings, of which those that are not given are
/// the usual ones, ends with the same bits whoever is slow: not where some go on without the last.
bool has_same_bits(const AlgorithmRow& row, const Settings& settings);

}  // namespace gv
