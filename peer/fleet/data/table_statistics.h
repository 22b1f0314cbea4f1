#pragma once

#include <string>

#include "optim/data/data_facts.h"

namespace gv {

/// Columns of a table that are said beforehand, as a YAML file:
///   version: 1
///   columns:
///     - { name: length, mean: 5.8, deviation: 0.8 }
///     - { name: colour, values: [blue, red] }
///   classes: [setosa, virginica]           # of a classification
///   target_shift: 0                        # of a regression: see DataFacts
/// Throws FleetError for whatever is wrong with it.
DataFacts read_statistics(const std::string& path);

/// The text of such a file. Every word stands in quotes, escaped.
std::string statistics_text(const DataFacts& facts);

}  // namespace gv
