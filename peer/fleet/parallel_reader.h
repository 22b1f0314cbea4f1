#pragma once

#include <string>
#include <vector>

#include "gossip/algorithm.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `parallel` (null: no chains) into `fleet`, whose peers are known, and puts them at their
/// places. Problems become diagnostics of `source`.
void read_parallel(Source& source, const Value* value, Fleet& fleet);
/// Says what in the rest of the file, which `fleet` holds, cannot be beside `parallel`.
void check_parallel(Source& source, const Value& root, const Fleet& fleet);
/// What a method asks of the peers that it runs among, it asks of the copies of each stage. Returns
/// what it has against so many; "" when nothing.
std::string objection_to_copies(const AlgorithmRow& row,
                                const Setup& setup,
                                const std::vector<PeerId>& copies);

}  // namespace gv
