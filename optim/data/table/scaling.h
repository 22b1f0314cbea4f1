#pragma once

#include "optim/data/table/table.h"
#include "optim/data/table/table_builder.h"

namespace gv {

/// Measures training samples in double, as the file has them: means and deviations of numbers, the
/// share of each value of a category, and the target of a regression with its shift. Where the spec
/// gives statistics, these are taken. Cells of categories are places in the levels of `facts`
/// (see sort_levels). Throws std::runtime_error if a part of a table needs a shift that all parts
/// would have to know.
void measure(const TableSpec& spec, const RawTable& train, DataFacts& facts);

/// Returns what is subtracted from the targets of a regression before they become floats: their
/// mean if it lies more than 1,000 deviations from 0, else 0. Floats hold seconds since 1970 only
/// to two minutes.
double shift_of(const DataFacts& facts);

}  // namespace gv
