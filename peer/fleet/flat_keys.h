#pragma once

#include <string>
#include <utility>
#include <vector>

#include "peer/fleet/file/source.h"

namespace gv {

/// Values of a fleet file by path: {"network.latency", "5 ms"}, in the order and spelling of the
/// file. A list is one value, in YAML's flow style. A short form of `{ kind: WORD }` is expanded:
/// `topology: ring` gives {"topology.kind", "ring"}.
using FlatKeys = std::vector<std::pair<std::string, std::string>>;
FlatKeys flat_keys(const Value& root);

/// Returns the flat keys of a file with `sets` applied, as in read_fleet. Throws FleetError.
FlatKeys fleet_keys(const std::string& path, const std::vector<std::string>& sets);

}  // namespace gv
