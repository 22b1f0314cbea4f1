#include "optim/data/table/dataset_of.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "optim/data/table/bounds.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;

/// Puts the places of levels into the order of `sorted`, in every `step`-th cell.
void sort_places(const std::vector<std::string>& levels,
                 const std::vector<std::string>& sorted,
                 std::vector<double>& cells,
                 std::size_t first,
                 std::size_t step) {
  if (levels == sorted) return;
  std::vector<double> places;
  places.reserve(levels.size());
  for (const std::string& level : levels)
    places.push_back(static_cast<double>(std::ranges::find(sorted, level) - sorted.begin()));
  for (std::size_t at = first; at < cells.size(); at += step)
    if (!std::isnan(cells[at])) cells[at] = places[static_cast<std::size_t>(cells[at])];
}

/// Writes a category's features, which are 0 before.
void spread(double cell, const ColumnFacts& column, float* to) {
  if (std::isnan(cell))
    std::ranges::transform(
        column.shares, to, [](double share) { return static_cast<float>(share); });
  else
    to[static_cast<std::size_t>(cell)] = 1;
}

std::vector<float> features_of(const RawTable& raw, const DataFacts& facts) {
  std::vector<float> out(facts.features() * raw.rows);
  const double* from = raw.cells.data();
  float* to = out.data();
  for (std::uint64_t r = 0; r < raw.rows; ++r)
    for (const ColumnFacts& column : facts.columns) {
      const double cell = *from++;
      if (column.is_category()) {
        spread(cell, column, to);
        to += column.levels.size();
        continue;
      }
      const double value = std::isnan(cell) ? column.mean : cell;
      *to++ = static_cast<float>(facts.standardized ? column.scaled(value) : value);
    }
  return out;
}

void require_room(const RawTable& raw, const DataFacts& facts, const std::string& path) {
  if (std::ranges::none_of(facts.columns, &ColumnFacts::is_category)) return;
  const std::uint64_t features = facts.features();
  if (features > table_bounds::features || features * raw.rows > table_bounds::spread)
    throw std::runtime_error(path + ": its categories make " + std::to_string(features) +
                             " features of each of " + std::to_string(raw.rows) +
                             " samples, too many; leave some out: `ignore: [NAME]`");
}

}  // namespace

void sort_levels(RawTable& raw, const DataFacts& facts) {
  std::size_t c = 0;
  for (std::size_t k = 0; k < raw.plan.columns.size(); ++k) {
    const PlannedColumn& column = raw.plan.columns[k];
    if (k == raw.plan.target) {
      if (column.use == Use::category) sort_places(column.levels, facts.classes, raw.targets, 0, 1);
    } else if (column.use != Use::ignored) {
      if (column.use == Use::category)
        sort_places(column.levels, facts.columns[c].levels, raw.cells, c, raw.width);
      ++c;
    }
  }
}

std::shared_ptr<Dataset> dataset_of(RawTable& raw,
                                    const DataFacts& facts,
                                    const std::string& path) {
  require_room(raw, facts, path);
  auto data = std::make_shared<Dataset>();
  data->rows = static_cast<std::uint32_t>(raw.rows);
  data->features = static_cast<std::uint32_t>(facts.features());
  data->classes = static_cast<std::uint32_t>(facts.classes.size());
  data->floats = features_of(raw, facts);
  raw.cells = {};
  if (raw.plan.target == no_target) return data;
  for (const double target : raw.targets)
    if (facts.classes.empty())
      data->targets.push_back(static_cast<float>(target - facts.target_shift.value_or(0)));
    else
      data->labels.push_back(static_cast<std::uint8_t>(target));
  return data;
}

}  // namespace gv
