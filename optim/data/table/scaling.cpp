#include "optim/data/table/scaling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>

#include "optim/data/field.h"

namespace gv {
namespace {

/// The moments of each column over the rows that have a value for it.
struct Moments {
  std::vector<double> mean, deviation;
};

/// The sums of a first pass over a column. `lost` is what additions have rounded away: balances of
/// both signs cancel. A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher
/// Summen", ZAMM 54(1), 1974, algorithm IV.
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

/// Two passes, because the squares of large numbers cancel; the second pass corrects the rounding
/// of the mean. Chan, Golub & LeVeque, "Algorithms for computing the sample variance", The American
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

/// Returns the part of the samples with each value, among those that have one.
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

/// One part of a table cannot choose the shift for all parts.
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
      column.shares.resize(column.levels.size());  // statistics need not have them
      continue;
    }
    column.mean = given != nullptr ? given->mean : own.mean[c];
    column.deviation = given != nullptr ? given->deviation : own.deviation[c];
  }
  if (facts.classes.empty()) measure_target(spec, train, facts);
}

}  // namespace gv
