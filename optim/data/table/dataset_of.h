#pragma once

#include <memory>
#include <string>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/table/table_builder.h"

namespace gv {

/// The rows of a file as samples, before they are scaled: a category becomes one feature of 0 or 1
/// for each of its values, all NaN where it is missing. `facts` has the order of values and
/// classes. A plan without a target (no_target) gives samples without labels. Takes the cells out
/// of `raw`. Throws std::runtime_error "path: ..." where categories become too many numbers.
std::shared_ptr<Dataset> dataset_of(RawTable& raw, const DataFacts& facts, const std::string& path);

}  // namespace gv
