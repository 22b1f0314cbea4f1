#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `topology` (null: the default, a ring) into `fleet`, whose peers and algorithm are known:
/// a graph with its weights, or a schedule. Paths are taken relative to `folder`. Problems become
/// diagnostics of `source`, at `value` or else at `root`; `notices` may be null.
void read_topology(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   Fleet& fleet,
                   std::vector<std::string>* notices);

}  // namespace gv
