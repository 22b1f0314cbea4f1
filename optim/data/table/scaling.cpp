#include "optim/data/table/scaling.h"

#include <cmath>
#include <span>

namespace gv {
namespace {

/// The moments of each feature over the rows where it is not missing. Two passes: the squares of
/// large numbers would cancel.
struct Moments {
  std::vector<double> mean, deviation;
};

Moments moments_of(const Dataset& data) {
  const std::size_t width = data.features;
  std::vector<double> sum(width, 0.0), squares(width, 0.0), count(width, 0.0);
  const float* at = data.floats.data();
  for (std::uint32_t r = 0; r < data.rows; ++r, at += width)
    for (std::size_t c = 0; c < width; ++c) {
      const bool there = !std::isnan(at[c]);
      sum[c] += there ? static_cast<double>(at[c]) : 0;
      count[c] += there ? 1 : 0;
    }
  for (std::size_t c = 0; c < width; ++c) sum[c] /= std::max(count[c], 1.0);
  at = data.floats.data();
  for (std::uint32_t r = 0; r < data.rows; ++r, at += width)
    for (std::size_t c = 0; c < width; ++c) {
      const double off = static_cast<double>(at[c]) - sum[c];
      squares[c] += std::isnan(off) ? 0 : off * off;
    }
  for (std::size_t c = 0; c < width; ++c)
    squares[c] = std::sqrt(squares[c] / std::max(count[c], 1.0));
  return {std::move(sum), std::move(squares)};
}

/// The numbers by which each feature is filled where it is missing, shifted and divided.
struct Scaling {
  std::vector<double> fill, shift, divisor;

  void add(double mean, double off, double by) {
    fill.push_back(mean);
    shift.push_back(off);
    divisor.push_back(by);
  }
};

void apply(const Scaling& scaling, Dataset& data) {
  const std::size_t width = data.features;
  float* at = data.floats.data();
  for (std::uint32_t r = 0; r < data.rows; ++r, at += width)
    for (std::size_t c = 0; c < width; ++c) {
      const double value = std::isnan(at[c]) ? scaling.fill[c] : static_cast<double>(at[c]);
      at[c] = static_cast<float>((value - scaling.shift[c]) / scaling.divisor[c]);
    }
}

/// Takes what stands for a missing value of a category. Statistics that do not tell it leave zeros.
void take_shares(const TableSpec& spec,
                 std::size_t k,
                 std::span<const double> own,
                 ColumnFacts& column) {
  if (!spec.given)
    column.shares.assign(own.begin(), own.end());
  else
    column.shares = spec.given->columns[k].shares;
  column.shares.resize(column.levels.size());
}

}  // namespace

void scale_features(const TableSpec& spec, Dataset& train, Dataset* test, DataFacts& facts) {
  const Moments own = moments_of(train);
  Scaling scaling;
  std::size_t f = 0;
  for (std::size_t k = 0; k < facts.columns.size(); ++k) {
    ColumnFacts& column = facts.columns[k];
    if (column.is_category()) {
      take_shares(spec, k, std::span(own.mean).subspan(f, column.levels.size()), column);
      for (const double share : column.shares) scaling.add(share, 0, 1);
      f += column.levels.size();
      continue;
    }
    column.mean = spec.given ? spec.given->columns[k].mean : own.mean[f];
    column.deviation = spec.given ? spec.given->columns[k].deviation : own.deviation[f];
    ++f;
    const bool scaled = spec.standardize;
    scaling.add(column.mean,
                scaled ? column.mean : 0,
                scaled && column.deviation > 0 ? column.deviation : 1);
  }
  if (!spec.standardize && spec.missing != MissingValue::mean) return;
  apply(scaling, train);
  if (test != nullptr) apply(scaling, *test);
}

}  // namespace gv
