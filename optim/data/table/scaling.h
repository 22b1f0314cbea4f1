#pragma once

#include "optim/data/table/table.h"

namespace gv {

/// Fills what is missing (NaN) and scales numbers, as the spec says, by what the training samples
/// say: their means and deviations go into `facts`, or come from the spec's. Of a category that is
/// missing each feature becomes the share of its value, 0 where statistics are given. `test` may be
/// null.
void scale_features(const TableSpec& spec, Dataset& train, Dataset* test, DataFacts& facts);

}  // namespace gv
