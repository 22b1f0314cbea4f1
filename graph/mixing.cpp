#include "graph/mixing.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
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

void check_row(const Neighborhood& row, PeerId i, PeerId n) {
  const std::string where = "mixing matrix: row " + std::to_string(i);
  if (row.peers.size() != row.weights.size())
    throw std::invalid_argument(where + " has not one weight per peer");
  double sum = row.self;
  for (std::size_t k = 0; k < row.peers.size(); ++k) {
    if (row.peers[k] >= n || row.peers[k] == i || (k > 0 && row.peers[k - 1] >= row.peers[k])) {
      throw std::invalid_argument(where + " does not list distinct other peers in ascending order");
    }
    sum += row.weights[k];
  }
  if (!std::isfinite(sum) || std::abs(sum - 1) > tolerance)
    throw std::invalid_argument(where + " sums to " + text(sum) + ", not 1");
}

/// W_ij of a checked row; 0 where there is no edge.
double weight(const Neighborhood& row, PeerId j) {
  const auto it = std::ranges::lower_bound(row.peers, j);
  if (it == row.peers.end() || *it != j) return 0;
  return row.weights[static_cast<std::size_t>(it - row.peers.begin())];
}

void check_symmetric(const std::vector<Neighborhood>& rows) {
  for (PeerId i = 0; i < rows.size(); ++i) {
    for (std::size_t k = 0; k < rows[i].peers.size(); ++k) {
      const PeerId j = rows[i].peers[k];
      const double back = weight(rows[j], i);
      if (std::abs(back - rows[i].weights[k]) <= tolerance) continue;
      throw std::invalid_argument("mixing matrix: not symmetric: entry (" + std::to_string(i) +
                                  ", " + std::to_string(j) + ") is " + text(rows[i].weights[k]) +
                                  ", its mirror " + text(back));
    }
  }
}

void check_columns(const std::vector<Neighborhood>& rows) {
  std::vector<double> sums(rows.size());
  for (PeerId i = 0; i < rows.size(); ++i) {
    sums[i] += rows[i].self;
    for (std::size_t k = 0; k < rows[i].peers.size(); ++k)
      sums[rows[i].peers[k]] += rows[i].weights[k];
  }
  for (std::size_t j = 0; j < sums.size(); ++j) {
    if (std::abs(sums[j] - 1) > tolerance) {
      throw std::invalid_argument("mixing matrix: column " + std::to_string(j) + " sums to " +
                                  text(sums[j]) + ", not 1");
    }
  }
}

void set_receivers(std::vector<Neighborhood>& rows) {
  for (Neighborhood& row : rows) row.receivers.clear();
  for (PeerId i = 0; i < rows.size(); ++i) {
    for (const PeerId j : rows[i].peers) rows[j].receivers.push_back(i);
  }
}

/// A row from its off-diagonal weights: what is left stays with the peer itself.
Neighborhood complete_row(std::vector<PeerId> peers, std::vector<double> weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  return {
      .self = 1 - sum, .peers = std::move(peers), .weights = std::move(weights), .receivers = {}};
}

template <class Weight>
MixingMatrix from_edges(const Topology& t, Weight weight_of) {
  std::vector<Neighborhood> rows;
  for (PeerId i = 0; i < t.size(); ++i) {
    std::vector<double> weights;
    for (const PeerId j : t.neighbors[i]) weights.push_back(weight_of(i, j));
    rows.push_back(complete_row(t.neighbors[i], std::move(weights)));
  }
  return {std::move(rows), t.directed};
}

double degree(const Topology& t, PeerId i) {
  return static_cast<double>(t.neighbors[i].size());
}

/// The third column of an edge list.
MixingMatrix listed_weights(const Topology& t) {
  if (t.edge_weights.empty())
    throw std::invalid_argument("weights edge-list: the topology has no third column of weights");
  std::map<Edge, double> listed;
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) listed[edges[e]] = t.edge_weights[e];
  return from_edges(t, [&](PeerId i, PeerId j) {
    return listed.at({std::min(i, j), std::max(i, j)});
  });
}

std::vector<double> numbers_of(std::string line) {
  std::ranges::replace(line, ',', ' ');
  if (const auto comment = line.find('#'); comment != std::string::npos) line.resize(comment);
  std::istringstream in(line);
  std::vector<double> values;
  for (double v = 0; in >> v;) values.push_back(v);
  if (!in.eof()) throw std::invalid_argument("not a number");
  return values;
}

}  // namespace

MixingMatrix::MixingMatrix(std::vector<Neighborhood> rows, bool directed)
    : rows_(std::move(rows)), directed_(directed) {
  for (PeerId i = 0; i < rows_.size(); ++i) check_row(rows_[i], i, size());
  if (!directed_) check_symmetric(rows_);
  check_columns(rows_);
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

MixingMatrix metropolis(const Topology& t) {
  return from_edges(
      t, [&](PeerId i, PeerId j) { return 1 / (1 + std::max(degree(t, i), degree(t, j))); });
}

MixingMatrix max_degree(const Topology& t) {
  double most = 0;
  for (PeerId i = 0; i < t.size(); ++i) most = std::max(most, degree(t, i));
  return from_edges(t, [most](PeerId, PeerId) { return 1 / (1 + most); });
}

MixingMatrix lazy(const Topology& t) {
  return from_edges(
      t, [&](PeerId i, PeerId j) { return 0.5 / (1 + std::max(degree(t, i), degree(t, j))); });
}

MixingMatrix read_matrix(const std::string& path, const Topology& t) {
  std::ifstream in(path);
  if (!in) throw std::invalid_argument(path + ": cannot be opened");
  std::vector<Neighborhood> rows;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const std::string where = path + ":" + std::to_string(number) + ": ";
    std::vector<double> values;
    try {
      values = numbers_of(line);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(where + e.what());
    }
    if (values.empty()) continue;
    const auto i = static_cast<PeerId>(rows.size());
    if (values.size() != t.size() || i >= t.size()) {
      throw std::invalid_argument(where + std::to_string(values.size()) + " numbers in row " +
                                  std::to_string(i) + "; the matrix must be " +
                                  std::to_string(t.size()) + " x " + std::to_string(t.size()));
    }
    Neighborhood row;
    row.self = values[i];
    for (PeerId j = 0; j < t.size(); ++j) {
      if (j == i || values[j] == 0) continue;
      if (!std::ranges::binary_search(t.neighbors[i], j)) {
        throw std::invalid_argument(where + "a weight for " + std::to_string(i) + " and " +
                                    std::to_string(j) + ", which the topology does not connect");
      }
      row.peers.push_back(j);
      row.weights.push_back(values[j]);
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() != t.size())
    throw std::invalid_argument(path + ": " + std::to_string(rows.size()) + " rows for " +
                                std::to_string(t.size()) + " peers");
  return {std::move(rows), t.directed};
}

MixingMatrix mixing_matrix(std::string_view weights, const Topology& t) {
  if (weights == "metropolis") return metropolis(t);
  if (weights == "max-degree") return max_degree(t);
  if (weights == "lazy") return lazy(t);
  if (weights == "edge-list") return listed_weights(t);
  if (weights.starts_with("file:")) return read_matrix(std::string(weights.substr(5)), t);
  throw std::invalid_argument("unknown weights `" + std::string(weights) +
                              "`: metropolis, max-degree, lazy, edge-list or file:PATH");
}

}  // namespace gv
