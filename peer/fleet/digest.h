#pragma once

#include <string>

#include "graph/mixing/mixing.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// 32 hex digits of XXH3-128 over the rows of W, in single precision, as the averaging takes them.
/// Two peers that read different graphs or weights from their files must not meet.
std::string digest_of(const MixingMatrix& w);
/// The same over the links of a graph.
std::string digest_of(const Topology& graph);

/// 32 hex digits of XXH3-128 over everything that decides the arithmetic, in one fixed order; of
/// files their content, not where they lie.
std::string digest_of(const Fleet& fleet);

}  // namespace gv
