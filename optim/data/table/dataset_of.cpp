#include "optim/data/table/dataset_of.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "optim/data/table/bounds.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;

/// Returns where the values of a category go: places[i] is that of levels[i] in sorted order.
std::vector<std::uint32_t> places_of(const std::vector<std::string>& levels,
                                     const std::vector<std::string>& sorted) {
  std::vector<std::uint32_t> places;
  places.reserve(levels.size());
  for (const std::string& level : levels)
    places.push_back(static_cast<std::uint32_t>(std::ranges::find(sorted, level) - sorted.begin()));
  return places;
}

/// Each category becomes as many features as it has values. What is missing stays NaN in all.
std::vector<float> spread(RawTable& raw, const DataFacts& facts, const std::string& path) {
  if (std::ranges::none_of(facts.columns, &ColumnFacts::is_category)) return std::move(raw.cells);
  const std::uint64_t features = facts.features();
  if (features > table_bounds::features || features * raw.rows > table_bounds::spread)
    throw std::runtime_error(path + ": its categories make " + std::to_string(features) +
                             " features of each of " + std::to_string(raw.rows) +
                             " samples, too many; leave some out: `ignore: [NAME]`");
  std::vector<std::vector<std::uint32_t>> places;
  for (std::size_t k = 0; k < raw.plan.columns.size(); ++k)
    if (k != raw.plan.target && raw.plan.columns[k].use != Use::ignored)
      places.push_back(places_of(raw.plan.columns[k].levels, facts.columns[places.size()].levels));
  std::vector<float> out(features * raw.rows);
  const float* from = raw.cells.data();
  float* to = out.data();
  for (std::uint64_t r = 0; r < raw.rows; ++r) {
    for (std::size_t c = 0; c < raw.width; ++c) {
      const float cell = *from++;
      const std::size_t size = facts.columns[c].levels.size();
      if (size == 0)
        *to = cell;
      else if (std::isnan(cell))
        std::fill_n(to, size, cell);
      else
        to[places[c][static_cast<std::size_t>(cell)]] = 1;
      to += std::max<std::size_t>(size, 1);
    }
  }
  raw.cells = {};
  return out;
}

}  // namespace

std::shared_ptr<Dataset> dataset_of(RawTable& raw,
                                    const DataFacts& facts,
                                    const std::string& path) {
  auto data = std::make_shared<Dataset>();
  data->rows = static_cast<std::uint32_t>(raw.rows);
  data->features = static_cast<std::uint32_t>(facts.features());
  data->classes = static_cast<std::uint32_t>(facts.classes.size());
  data->floats = spread(raw, facts, path);
  if (raw.plan.target == no_target) return data;
  if (facts.classes.empty()) {
    data->targets = std::move(raw.targets);
    return data;
  }
  const auto places = places_of(raw.plan.columns[raw.plan.target].levels, facts.classes);
  for (const float cell : raw.targets)
    data->labels.push_back(static_cast<std::uint8_t>(places[static_cast<std::size_t>(cell)]));
  return data;
}

}  // namespace gv
