#include "optim/data/table/prepared_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "optim/data/field.h"

namespace gv {
namespace {

using Use = PlannedColumn::Use;

/// Returns whether all classes are numbers, which may have other spellings: `1.0` is `1`.
bool are_numbers(const std::vector<std::string>& classes) {
  return std::ranges::all_of(classes,
                             [](const std::string& c) { return number_of<double>(c).has_value(); });
}

PlannedColumn planned_feature(const ColumnFacts& facts, char decimal) {
  return {.name = facts.name,
          .use = facts.is_category() ? Use::category
                 : facts.date        ? Use::date
                                     : Use::number,
          .closed = facts.is_category(),
          .levels = facts.levels,
          .told = facts.is_category() ? "the model" : "the model was trained on numbers there",
          .decimal = decimal};
}

PlannedColumn planned_target(const DataFacts& facts) {
  const bool classes = !facts.classes.empty();
  return {.name = facts.target,
          .use = classes ? Use::category : Use::number,
          .numeric = are_numbers(facts.classes),
          .closed = classes,
          .levels = facts.classes,
          .told = classes ? "the model" : "it is the model's target",
          .decimal = facts.decimal};
}

using Places = std::map<std::string_view, std::size_t>;

Places places_of(const std::string& path, const std::vector<std::string>& names) {
  Places places;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (!places.emplace(names[k], k).second)
      throw std::runtime_error(path + ": two columns are called " + shown(names[k]));
  return places;
}

std::size_t place_of(const std::string& path,
                     const Places& places,
                     const std::string& name,
                     const char* what) {
  if (const auto it = places.find(name); it != places.end()) return it->second;
  throw std::runtime_error(path + ": no column " + shown(name) + ", " + what +
                           "; call the columns as in the training file");
}

ColumnOrder order_in(const std::string& path,
                     const std::vector<std::string>& names,
                     const DataFacts& facts,
                     bool target) {
  const Places places = places_of(path, names);
  ColumnOrder order;
  for (const ColumnFacts& column : facts.columns)
    order.features.push_back(place_of(path, places, column.name, "which the model needs"));
  if (target)
    order.target = place_of(path, places, facts.target, "the target, which is the right answer");
  return order;
}

TablePlan plan_of(const std::vector<std::string>& names,
                  const DataFacts& facts,
                  const ColumnOrder& order) {
  TablePlan plan{.columns = {}, .target = order.target};
  for (const std::string& name : names)
    plan.columns.push_back({.name = name, .use = Use::ignored, .levels = {}, .told = ""});
  for (std::size_t c = 0; c < order.features.size(); ++c)
    plan.columns[order.features[c]] = planned_feature(facts.columns[c], facts.decimal);
  if (order.target != no_target) plan.columns[order.target] = planned_target(facts);
  return plan;
}

/// Renumbers levels in the order of `sorted`, in every `step`-th cell.
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

/// Writes a category's features, which must be 0 before.
void spread(double cell, const ColumnFacts& column, float* to) {
  if (std::isnan(cell))
    std::ranges::transform(column.shares, to,
                           [](double share) { return static_cast<float>(share); });
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

/// Returns for each feature, in the wanted order, its index among the cells of a row, which are
/// those of the columns that are not ignored in the file's order.
std::vector<std::size_t> cell_places(const ColumnOrder& order) {
  std::vector<std::size_t> sorted = order.features;
  std::ranges::sort(sorted);
  std::vector<std::size_t> places;
  for (const std::size_t feature : order.features)
    places.push_back(
        static_cast<std::size_t>(std::ranges::lower_bound(sorted, feature) - sorted.begin()));
  return places;
}

/// Mean and deviation of each column over the rows with a value.
struct Moments {
  std::vector<double> mean, deviation;
};

/// The sums of a first pass over a column. `lost` is the sum of rounding errors, because
/// balances of both signs cancel. A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur
/// Summation endlicher Summen", ZAMM 54(1), 1974, algorithm IV.
struct Sums {
  double sum = 0, lost = 0, count = 0;
  double least = std::numeric_limits<double>::infinity(), most = -least;
};

std::vector<Sums> sums_of(std::span<const double> cells, std::size_t width) {
  std::vector<Sums> sums(width);
  for (std::size_t at = 0; at < cells.size(); at += width)
    for (std::size_t c = 0; c < width; ++c) {
      const double cell = cells[at + c];
      if (std::isnan(cell)) continue;
      Sums& s = sums[c];
      const double next = s.sum + cell;
      s.lost += std::abs(s.sum) >= std::abs(cell) ? (s.sum - next) + cell : (cell - next) + s.sum;
      s.sum = next;
      s.count += 1;
      s.least = std::min(s.least, cell);
      s.most = std::max(s.most, cell);
    }
  return sums;
}

/// Uses two passes, because the squares of large numbers cancel; the second corrects the mean's
/// rounding. Chan, Golub & LeVeque, "Algorithms for computing the sample variance", The American
/// Statistician 37(3), 1983, equation 1.7. A constant column has a deviation of exactly 0.
Moments moments_of(std::span<const double> cells, std::size_t width) {
  const std::vector<Sums> sums = sums_of(cells, width);
  std::vector<double> mean(width), off(width, 0.0), squares(width, 0.0);
  for (std::size_t c = 0; c < width; ++c)
    mean[c] = (sums[c].sum + sums[c].lost) / std::max(sums[c].count, 1.0);
  for (std::size_t at = 0; at < cells.size(); at += width)
    for (std::size_t c = 0; c < width; ++c) {
      const double delta = std::isnan(cells[at + c]) ? 0 : cells[at + c] - mean[c];
      off[c] += delta;
      squares[c] += delta * delta;
    }
  for (std::size_t c = 0; c < width; ++c) {
    const double n = std::max(sums[c].count, 1.0);
    const bool constant = !(sums[c].least < sums[c].most);
    if (constant && sums[c].count > 0) mean[c] = sums[c].least;
    squares[c] = constant ? 0 : std::sqrt(std::max(squares[c] - off[c] * off[c] / n, 0.0) / n);
  }
  return {std::move(mean), std::move(squares)};
}

/// Returns the share of each value among the samples that have a value.
std::vector<double> shares_of(const RawTable& train, std::size_t c, std::size_t levels) {
  std::vector<double> shares(levels, 0.0);
  double count = 0;
  for (std::size_t at = c; at < train.cells.size(); at += train.width) {
    if (std::isnan(train.cells[at])) continue;
    shares[static_cast<std::size_t>(train.cells[at])] += 1;
    count += 1;
  }
  for (double& share : shares) share /= std::max(count, 1.0);
  return shares;
}

/// Throws if targets need a shift: one part of a table cannot choose it for all parts.
void require_floats(const TableSpec& spec, const RawTable& train, const DataFacts& facts) {
  constexpr double most = 1e-3;
  for (const double y : train.targets)
    if (facts.target_deviation > 0 &&
        std::abs(static_cast<double>(static_cast<float>(y)) - y) > most * facts.target_deviation)
      throw std::runtime_error(
          spec.file + ": the numbers of the target " + shown(facts.target) +
          " lie so far from 0 that floats cannot distinguish them; give a common shift for all "
          "files: `standardize: { file: stats.yaml }`, which `grapevine data FILE --write "
          "stats.yaml` makes where all files are");
}

void measure_target(const TableSpec& spec, const RawTable& train, DataFacts& facts) {
  const Moments own = moments_of(train.targets, 1);
  facts.target_mean = own.mean[0];
  facts.target_deviation = own.deviation[0];
  if (spec.given && spec.given->target_shift) {
    facts.target_shift = spec.given->target_shift;
    return;
  }
  if (spec.part) require_floats(spec, train, facts);
  facts.target_shift = spec.part ? 0 : shift_of(facts);
}

}  // namespace

PreparedRows prepare_rows(const std::string& path, const Preparation& how, bool target) {
  const DataFacts& facts = how.facts;
  const std::unique_ptr<RowSource> rows = open_rows(path, form_of(facts.header, facts.columns));
  const ColumnOrder order = order_in(path, rows->names(), facts, target);
  RawTable raw = read_rows(*rows, plan_of(rows->names(), facts, order), how.missing, !target);
  if (raw.rows == 0 && raw.left_out.size() == raw.dropped)
    throw std::runtime_error(
        path + ": no samples" +
        (raw.dropped > 0 ? ": a value is missing in each" : "; the file has names and no rows"));
  reorder(raw, order);
  PreparedRows prepared{.data = dataset_of(raw, facts, path), .left_out = std::move(raw.left_out)};
  return prepared;
}

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

double shift_of(const DataFacts& facts) {
  constexpr double far = 1000;
  const bool shifts =
      facts.target_deviation > 0 && std::abs(facts.target_mean) > far * facts.target_deviation;
  return shifts ? facts.target_mean : 0;
}

void measure(const TableSpec& spec, const RawTable& train, DataFacts& facts) {
  const Moments own = moments_of(train.cells, train.width);
  for (std::size_t c = 0; c < facts.columns.size(); ++c) {
    ColumnFacts& column = facts.columns[c];
    const ColumnFacts* const given = spec.given ? &spec.given->columns[c] : nullptr;
    if (column.is_category()) {
      column.shares = given != nullptr ? given->shares : shares_of(train, c, column.levels.size());
      column.shares.resize(column.levels.size());  // statistics may lack shares
      continue;
    }
    column.mean = given != nullptr ? given->mean : own.mean[c];
    column.deviation = given != nullptr ? given->deviation : own.deviation[c];
  }
  if (facts.classes.empty()) measure_target(spec, train, facts);
}

}  // namespace gv
