#include "optim/data/table/column_order.h"

#include <algorithm>
#include <utility>

namespace gv {
namespace {

/// Returns for each feature, in the order that is wanted, its place among the cells of a row, which
/// are those of the columns that are not ignored in the file's order.
std::vector<std::size_t> cell_places(const ColumnOrder& order) {
  std::vector<std::size_t> sorted = order.features;
  std::ranges::sort(sorted);
  std::vector<std::size_t> places;
  for (const std::size_t feature : order.features)
    places.push_back(
        static_cast<std::size_t>(std::ranges::lower_bound(sorted, feature) - sorted.begin()));
  return places;
}

}  // namespace

void reorder(RawTable& raw, const ColumnOrder& order) {
  const std::vector<std::size_t> from = cell_places(order);
  std::vector<double> row(raw.width);
  for (std::uint64_t r = 0; r < raw.rows; ++r) {
    double* const cells = raw.cells.data() + r * raw.width;
    for (std::size_t c = 0; c < raw.width; ++c) row[c] = cells[from[c]];
    std::ranges::copy(row, cells);
  }
  std::vector<std::size_t> places = order.features;
  if (order.target != no_target) places.push_back(order.target);
  std::vector<PlannedColumn> columns;
  std::vector<std::uint64_t> missing;
  for (const std::size_t place : places) {
    columns.push_back(std::move(raw.plan.columns[place]));
    missing.push_back(raw.missing[place]);
  }
  raw.plan.columns = std::move(columns);
  raw.missing = std::move(missing);
  if (order.target != no_target) raw.plan.target = raw.plan.columns.size() - 1;
}

ColumnOrder order_of(const TablePlan& plan, std::span<const ColumnFacts> wanted) {
  ColumnOrder order{.features = {}, .target = plan.target};
  for (const ColumnFacts& column : wanted)
    order.features.push_back(static_cast<std::size_t>(
        std::ranges::find(plan.columns, column.name, &PlannedColumn::name) - plan.columns.begin()));
  return order;
}

}  // namespace gv
