#include "graph/mixing/mixing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace gv {
namespace {

constexpr double tolerance = 1e-12;

std::string text(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

void check_pattern(const Neighborhood& row, PeerId i, PeerId n) {
  const std::string where = "mixing matrix: row " + std::to_string(i);
  if (row.peers.size() != row.weights.size())
    throw std::invalid_argument(where + " has not one weight per peer");
  for (std::size_t k = 0; k < row.peers.size(); ++k) {
    if (row.peers[k] >= n || row.peers[k] == i || (k > 0 && row.peers[k - 1] >= row.peers[k])) {
      throw std::invalid_argument(where + " does not list distinct other peers in ascending order");
    }
    if (!std::isfinite(row.weights[k]))
      throw std::invalid_argument(where + " has the weight " + text(row.weights[k]));
  }
  if (!std::isfinite(row.self))
    throw std::invalid_argument(where + " has the weight " + text(row.self) + " on itself");
}

void check_symmetric(const std::vector<Neighborhood>& rows) {
  for (PeerId i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i].peers.size(); ++k) {
      const PeerId j = rows[i].peers[k];
      const double back = rows[j].weight_of(i);
      if (std::abs(back - rows[i].weights[k]) <= tolerance) continue;
      throw std::invalid_argument("mixing matrix: not symmetric: entry (" + std::to_string(i) +
                                  ", " + std::to_string(j) + ") is " + text(rows[i].weights[k]) +
                                  ", its mirror " + text(back) +
                                  "; the schedule matrices:FILE takes such a matrix");
    }
  }
}

/// Returns the index whose sum is farthest from 1.
std::size_t worst(const std::vector<double>& sums) {
  const auto distance = [](double sum) { return std::abs(sum - 1); };
  return static_cast<std::size_t>(std::ranges::max_element(sums, {}, distance) - sums.begin());
}

void check_sums(const std::vector<Neighborhood>& rows) {
  std::vector<double> row_sums(rows.size());
  std::vector<double> column_sums(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    row_sums[i] += rows[i].self;
    column_sums[i] += rows[i].self;
    for (std::size_t k = 0; k < rows[i].peers.size(); ++k) {
      row_sums[i] += rows[i].weights[k];
      column_sums[rows[i].peers[k]] += rows[i].weights[k];
    }
  }
  if (rows.empty()) return;
  const std::size_t row = worst(row_sums);
  const std::size_t column = worst(column_sums);
  const double off = std::max(std::abs(row_sums[row] - 1), std::abs(column_sums[column] - 1));
  if (off <= tolerance) return;
  throw std::invalid_argument(
      "mixing matrix: row " + std::to_string(row) + " sums to " + text(row_sums[row]) +
      ", column " + std::to_string(column) + " to " + text(column_sums[column]) +
      " (the worst of each); every row and every column must sum to 1 within 1e-12, or the "
      "average of the models drifts");
}

void set_receivers(std::vector<Neighborhood>& rows) {
  for (Neighborhood& row : rows) row.receivers.clear();
  for (PeerId i = 0; i < rows.size(); ++i) {
    for (const PeerId j : rows[i].peers) rows[j].receivers.push_back(i);
  }
}

/// Returns a row with these off-diagonal weights; the peer itself gets the rest.
Neighborhood complete_row(std::vector<PeerId> peers, std::vector<double> weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  return {
      .self = 1 - sum, .peers = std::move(peers), .weights = std::move(weights), .receivers = {}};
}

double degree(const Topology& t, PeerId i) {
  return static_cast<double>(t.neighbors[i].size());
}

/// Returns the index of each value in the table of different ones; nothing if there are too many.
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

double Neighborhood::weight_of(PeerId j) const {
  const auto it = std::ranges::lower_bound(peers, j);
  if (it == peers.end() || *it != j) return 0;
  return weights[static_cast<std::size_t>(it - peers.begin())];
}

MixingMatrix::MixingMatrix(std::vector<Neighborhood> rows, bool directed)
    : rows_(std::move(rows)), directed_(directed) {
  for (PeerId i = 0; i < rows_.size(); ++i) check_pattern(rows_[i], i, size());
  check_sums(rows_);
  if (!directed_) check_symmetric(rows_);
  set_receivers(rows_);
}

void MixingMatrix::apply(const double* x, double* y) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    double sum = rows_[i].self * x[i];
    for (std::size_t k = 0; k < rows_[i].peers.size(); ++k)
      sum += rows_[i].weights[k] * x[rows_[i].peers[k]];
    y[i] = sum;
  }
}

void MixingMatrix::apply_transposed(const double* x, double* y) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) y[i] = rows_[i].self * x[i];
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t k = 0; k < rows_[i].peers.size(); ++k)
      y[rows_[i].peers[k]] += rows_[i].weights[k] * x[i];
  }
}

MixingMatrix weighted_matrix(const Topology& t,
                             const std::function<double(PeerId, PeerId)>& weight) {
  std::vector<Neighborhood> rows;
  rows.reserve(t.size());
  for (PeerId i = 0; i < t.size(); ++i) {
    std::vector<double> weights;
    weights.reserve(t.neighbors[i].size());
    for (const PeerId j : t.neighbors[i]) weights.push_back(weight(i, j));
    rows.push_back(complete_row(t.neighbors[i], std::move(weights)));
  }
  return {std::move(rows), t.directed};
}

MixingMatrix metropolis(const Topology& t) {
  return weighted_matrix(
      t, [&](PeerId i, PeerId j) { return 1 / (1 + std::max(degree(t, i), degree(t, j))); });
}

MixingMatrix max_degree(const Topology& t) {
  double most = 0;
  for (PeerId i = 0; i < t.size(); ++i) most = std::max(most, degree(t, i));
  return weighted_matrix(t, [most](PeerId, PeerId) { return 1 / (1 + most); });
}

MixingMatrix lazy(const Topology& t) {
  return weighted_matrix(
      t, [&](PeerId i, PeerId j) { return 0.5 / (1 + std::max(degree(t, i), degree(t, j))); });
}

MixingMatrix listed_weights(const Topology& t) {
  if (t.edge_weights.empty()) {
    throw std::invalid_argument("weights edge-list: the topology " + t.name +
                                " brings no weights: give each edge one, or choose metropolis");
  }
  std::map<Edge, double> listed;
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) listed[edges[e]] = t.edge_weights[e];
  return weighted_matrix(t, [&](PeerId i, PeerId j) {
    return listed.at(t.directed ? Edge{j, i} : undirected_edge(i, j));
  });
}

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
