#include "graph/mixing/sparse_rows.h"

#include <algorithm>
#include <optional>

namespace gv {
namespace {

/// The place of each value among the different ones; nothing: they are too many.
std::optional<std::vector<std::uint8_t>> places_of(const std::vector<double>& values,
                                                   std::vector<double>& table,
                                                   std::size_t most) {
  std::vector<std::uint8_t> places;
  places.reserve(values.size());
  for (const double value : values) {
    const auto place = static_cast<std::size_t>(std::ranges::find(table, value) - table.begin());
    if (place == most) return {};
    if (place == table.size()) table.push_back(value);
    places.push_back(static_cast<std::uint8_t>(place));
  }
  return places;
}

}  // namespace

SparseRows::SparseRows(const MixingMatrix& w) {
  begin_.reserve(w.size() + std::size_t{1});
  begin_.push_back(0);
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood& row = w.row(i);
    self_.push_back(row.self);
    peers_.insert(peers_.end(), row.peers.begin(), row.peers.end());
    weights_.insert(weights_.end(), row.weights.begin(), row.weights.end());
    begin_.push_back(peers_.size());
  }
  std::optional<std::vector<std::uint8_t>> places = places_of(weights_, table_, most_places);
  std::optional<std::vector<std::uint8_t>> own;
  if (places) own = places_of(self_, table_, most_places);
  if (!own) return;
  places_ = std::move(*places);
  self_places_ = std::move(*own);
  weights_ = {};
  self_ = {};
}

void SparseRows::apply(const double* x, double* y) const {
  const auto product = [&](const auto& self, const auto& weight) {
    for (std::size_t i = 0; i < size(); ++i) {
      double sum = self(i) * x[i];
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) sum += weight(k) * x[peers_[k]];
      y[i] = sum;
    }
  };
  if (self_.empty())
    product([&](std::size_t i) { return table_[self_places_[i]]; },
            [&](std::size_t k) { return table_[places_[k]]; });
  else
    product([&](std::size_t i) { return self_[i]; }, [&](std::size_t k) { return weights_[k]; });
}

void subtract_mean(double* v, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += v[i];
  const double mean = sum / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) v[i] -= mean;
}

}  // namespace gv
