#pragma once

#include "optim/data/data_facts.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Returns what a fleet's table says of its columns, over the training samples of all files: what
/// `standardize: { file: ... }` reads. Where each peer has a table of its own, categories and
/// classes are whatever any of them has, and every file has to be here. Throws std::runtime_error.
DataFacts pooled_facts(const Fleet& fleet);

}  // namespace gv
