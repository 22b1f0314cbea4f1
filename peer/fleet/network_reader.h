#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "peer/fleet/file/value.h"
#include "peer/fleet/network_spec.h"

namespace gv {

/// Reads `network` (a map) and `links` (what differs between two peers, or between the peers of two
/// hosts: a list, or `file`, which is looked for in `folder`); both may be null. `hosts`: of each
/// peer. Problems become diagnostics of `source`.
NetworkSpec read_network(Source& source,
                         const Value* network,
                         const Value* links,
                         const std::vector<std::string>& hosts,
                         const std::filesystem::path& folder);

}  // namespace gv
