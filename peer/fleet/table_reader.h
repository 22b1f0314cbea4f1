#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/fleet/value.h"

namespace gv {

/// Reads the keys of `data: { kind: table, ... }` into data.table, with the task that the file
/// shows where none is named, and data.content. Problems become diagnostics of `source`; `notices`
/// may be null.
void read_table_keys(Source& source,
                     MapReader& map,
                     const Value& at,
                     const std::filesystem::path& folder,
                     PeerId peers,
                     DataSpec& data,
                     std::vector<std::string>* notices);

/// Says what cannot be beside a table for each peer in `data`, which is at `at`, and that the parts
/// are the peers' own.
void check_per_peer(Source& source, const Value& at, DataSpec& data);

}  // namespace gv
