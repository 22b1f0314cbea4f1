#pragma once

#include <string>
#include <vector>

#include "optim/data/data_facts.h"
#include "peer/fleet/data/data_spec.h"

namespace gv {

/// Reads predefined columns of a table from a YAML file:
///   version: 1
///   columns:
///     - { name: length, mean: 5.8, deviation: 0.8 }
///     - { name: colour, values: [blue, red] }
///   classes: [setosa, virginica]           # classification
///   target_shift: 0                        # regression: see DataFacts
/// Throws FleetError for any error in it.
DataFacts read_statistics(const std::string& path);

/// Returns the peers' own tables that are on this machine; none if they share one.
std::vector<std::string> parts_here(const DataSpec& data, PeerId peers);
/// Returns whether a peer's own table is not on this machine.
bool lacks_parts(const DataSpec& data, PeerId peers);

/// Returns the text of such a file. Every word is quoted and escaped.
std::string statistics_text(const DataFacts& facts);

}  // namespace gv
