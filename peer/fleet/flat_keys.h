#pragma once

#include <string>
#include <utility>
#include <vector>

#include "peer/fleet/file/source.h"

namespace gv {

/// A fleet file's values by their paths: {"network.latency", "5 ms"}, in the order of the file, and
/// as they are written there. A list is one value, in YAML's flow style. What stands for
/// `{ kind: WORD }` is told as such: `topology: ring` gives {"topology.kind", "ring"}.
using FlatKeys = std::vector<std::pair<std::string, std::string>>;
FlatKeys flat_keys(const Value& root);

/// Returns those of the file with `sets` applied, as read_fleet applies them. Throws FleetError.
FlatKeys fleet_keys(const std::string& path, const std::vector<std::string>& sets);

}  // namespace gv
