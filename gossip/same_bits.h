#pragma once

#include "gossip/algorithm.h"

namespace gv {

/// Returns whether a fleet of this row with these settings (defaults for the others) ends with the
/// same bits whichever peer is slow: false if some peers continue without the last.
bool has_same_bits(const AlgorithmRow& row, const Settings& settings);

}  // namespace gv
