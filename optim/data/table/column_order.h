#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "optim/data/table/table_builder.h"

namespace gv {

/// The places in a file of columns that are known by their names.
struct ColumnOrder {
  std::vector<std::size_t> features;  ///< of each feature, in the order that is wanted
  std::size_t target = no_target;
};

/// Puts cells, counts and columns of a table from the file's order into that one; columns that the
/// order does not name are left out.
void reorder(RawTable& raw, const ColumnOrder& order);

/// Returns where the columns of `wanted` stand among those of a plan that has all of them.
ColumnOrder order_of(const TablePlan& plan, std::span<const ColumnFacts> wanted);

}  // namespace gv
