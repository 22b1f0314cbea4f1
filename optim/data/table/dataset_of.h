#pragma once

#include <memory>
#include <string>

#include "optim/data/data_facts.h"
#include "optim/data/dataset.h"
#include "optim/data/table/table_builder.h"

namespace gv {

/// Gives the values of categories and the classes in the cells of `raw` the order of `facts`.
void sort_levels(RawTable& raw, const DataFacts& facts);

/// The rows of a file as samples, filled, scaled and shifted as `facts` says; only then they become
/// floats. A category becomes one feature of 0 or 1 for each of its values, or their shares if the
/// value is missing. Cells have the order of `facts` (sort_levels). A plan without a target
/// (no_target) gives samples without labels. Takes the cells out of `raw`. Throws
/// std::runtime_error "path: ..." where categories become too many numbers.
std::shared_ptr<Dataset> dataset_of(RawTable& raw, const DataFacts& facts, const std::string& path);

}  // namespace gv
