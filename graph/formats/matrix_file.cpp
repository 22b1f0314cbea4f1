#include "graph/formats/matrix_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/formats/file_bytes.h"
#include "graph/formats/file_error.h"
#include "graph/formats/npy_matrix.h"
#include "graph/formats/number_rows.h"

namespace gv {
namespace {

using Numbers = std::vector<double>;

[[noreturn]] void refuse_shape(const std::string& where, const std::string& what, PeerId n) {
  const std::string side = std::to_string(n);
  refuse_file(
      where,
      what + "; the matrix must be " + side + " x " + side + ", one row and column per peer");
}

std::vector<Numbers> text_rows(const std::string& bytes, const std::string& path, PeerId n) {
  std::vector<Numbers> rows;
  for (NumberRow& row : parse_number_rows(bytes, path)) {
    if (row.values.size() != n || rows.size() == n) {
      refuse_shape(
          path + ":" + std::to_string(row.line) + ": ",
          std::to_string(row.values.size()) + " numbers in row " + std::to_string(rows.size()),
          n);
    }
    rows.push_back(std::move(row.values));
  }
  if (rows.size() != n) refuse_shape(path + ": ", std::to_string(rows.size()) + " rows", n);
  return rows;
}

std::vector<Numbers> npy_rows(const std::string& bytes, const std::string& path, PeerId n) {
  const NpyMatrix m = parse_npy_matrix(bytes, path);
  if (m.rows != n || m.columns != n)
    refuse_shape(path + ": ", std::to_string(m.rows) + " x " + std::to_string(m.columns), n);
  std::vector<Numbers> rows;
  for (std::size_t i = 0; i < n; ++i) {
    Numbers& row = rows.emplace_back();
    for (std::size_t j = 0; j < n; ++j) row.push_back(m(i, j));
    if (!m.single_precision) continue;
    // Float32 sums to 1 within 1e-7 only: what the edges leave stays on the diagonal.
    double sum = -row[i];
    for (const double value : row) sum += value;
    if (std::abs(sum + row[i] - 1) < 1e-5) row[i] = 1 - sum;
  }
  return rows;
}

}  // namespace

MixingMatrix read_matrix(const std::string& path, const Topology& t) {
  const std::string bytes = file_bytes(path);
  const std::vector<Numbers> values =
      path.ends_with(".npy") ? npy_rows(bytes, path, t.size()) : text_rows(bytes, path, t.size());
  std::vector<Neighborhood> rows;
  for (PeerId i = 0; i < t.size(); ++i) {
    Neighborhood& row = rows.emplace_back();
    row.self = values[i][i];
    for (PeerId j = 0; j < t.size(); ++j) {
      if (j == i || values[i][j] == 0) continue;
      if (!std::ranges::binary_search(t.neighbors[i], j)) {
        refuse_file(path + ": ",
                    "a weight for " + std::to_string(i) + " and " + std::to_string(j) +
                        ", which the topology does not connect");
      }
      row.peers.push_back(j);
      row.weights.push_back(values[i][j]);
    }
  }
  return {std::move(rows), t.directed};
}

}  // namespace gv
