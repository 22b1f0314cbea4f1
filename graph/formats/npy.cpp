#include <cmath>

#include "graph/formats/file_error.h"
#include "graph/formats/listed_graph.h"
#include "graph/formats/npy_matrix.h"
#include "graph/spec/numbers.h"

// A graph as a matrix A: A_ij != 0 off the diagonal means that i hears j. With anything on the
// diagonal A is a mixing matrix and must be doubly stochastic; with nothing there, an adjacency
// matrix: of ones, or of edge weights.

namespace gv {
namespace {

struct Sum {
  std::size_t index = 0;
  double value = 1;
};

/// The row (or column) whose sum is farthest from 1.
Sum worst_sum(const NpyMatrix& a, bool rows) {
  Sum worst;
  for (std::size_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < a.rows; ++j) sum += rows ? a(i, j) : a(j, i);
    if (std::abs(sum - 1) > std::abs(worst.value - 1)) worst = {i, sum};
  }
  return worst;
}

void check_mixing(const NpyMatrix& a, const std::string& path) {
  const Sum row = worst_sum(a, true);
  const Sum column = worst_sum(a, false);
  const double tolerance = a.single_precision ? 1e-5 : 1e-9;
  if (std::abs(row.value - 1) <= tolerance && std::abs(column.value - 1) <= tolerance) return;
  refuse_file(path + ": ",
              "not doubly stochastic: row " + std::to_string(row.index) + " sums to " +
                  shortest(row.value) + ", column " + std::to_string(column.index) + " to " +
                  shortest(column.value) +
                  " (the worst of each), not 1; an adjacency matrix has nothing on the diagonal");
}

}  // namespace

ListedGraph parse_npy(std::string_view bytes, const std::string& path) {
  const NpyMatrix a = parse_npy_matrix(bytes, path);
  const std::size_t n = a.rows;
  if (a.columns != n) {
    refuse_file(path + ": ",
                "a matrix of " + std::to_string(n) + " x " + std::to_string(a.columns) +
                    ": a graph needs as many rows as columns");
  }
  ListedGraph list{.directed = false, .peers = {}, .complete = true, .edges = {}};
  bool mixing = false;
  bool ones = true;
  for (std::size_t i = 0; i < n; ++i) {
    list.peers.push_back(std::to_string(i));
    mixing |= a(i, i) != 0;
    for (std::size_t j = 0; j < n; ++j) {
      list.directed |= a(i, j) != a(j, i);
      ones &= a(i, j) == 0 || a(i, j) == 1;
    }
  }
  if (mixing) check_mixing(a, path);
  const bool weighted = mixing || !ones;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < (list.directed ? n : i); ++j) {
      if (j == i || a(i, j) == 0) continue;
      ListedEdge& e = list.edges.emplace_back();
      e.from = list.peers[j];
      e.to = list.peers[i];
      e.where = path + ": ";
      if (weighted) e.weight = a(i, j);
    }
  }
  return list;
}

std::string to_npy(const Topology& t) {
  const std::size_t n = t.size();
  NpyMatrix a{.rows = n, .columns = n, .single_precision = false, .values = {}};
  a.values.assign(n * n, 0);
  const auto entry = [&](PeerId i, PeerId j) -> double& {
    return a.values[std::size_t{i} * n + j];
  };
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const double weight = t.edge_weights.empty() ? 1 : t.edge_weights[e];
    const auto [u, v] = edges[e];
    entry(v, u) = weight;
    if (!t.directed) entry(u, v) = weight;
  }
  if (!t.edge_weights.empty()) {
    for (PeerId i = 0; i < n; ++i) {
      double sum = 0;
      for (const PeerId j : t.neighbors[i]) sum += entry(i, j);
      entry(i, i) = 1 - sum;
    }
  }
  return npy_bytes(a);
}

}  // namespace gv
