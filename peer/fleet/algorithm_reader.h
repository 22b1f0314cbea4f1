#pragma once

#include <filesystem>

#include "graph/mixing/mixing.h"
#include "peer/fleet/file/readers.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// `plugin`: loads the methods of a shared object, before one of them may be named.
void read_plugin(Source& source,
                 const Value* value,
                 const std::filesystem::path& folder,
                 Fleet& fleet);
/// `algorithm`: its kind, its order and the options of that row of the registry, each with its
/// range.
void read_algorithm(Source& source, const Value* value, Fleet& fleet);

/// Reports what keeps the algorithm from running in this fleet. w: of the fleet's topology; null
/// where it changes with the round.
void check_algorithm(Source& source, const Value& root, const Fleet& fleet, const MixingMatrix* w);

}  // namespace gv
