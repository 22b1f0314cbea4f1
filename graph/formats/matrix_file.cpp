#include "graph/formats/matrix_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/formats/file_error.h"
#include "graph/formats/graph_file.h"
#include "graph/formats/npy_matrix.h"
#include "graph/spec/parameters.h"

namespace gv {
namespace {

using Rows = std::vector<std::vector<double>>;  ///< rows of a square matrix

constexpr double tolerance = 1e-12;  ///< for a matrix's symmetry, as in graph/mixing/mixing.h

[[noreturn]] void refuse_shape(const std::string& where, const std::string& what, PeerId n) {
  const std::string side = std::to_string(n);
  refuse_file(where, what + "; the matrix must be " + side + " x " + side +
                         ", one row and column per peer");
}

[[noreturn]] void refuse_count(const std::string& where) {
  refuse_file(where, "more than " + std::to_string(most_matrices) + " matrices");
}

/// Reads n lines as a matrix; `several`: more matrices may follow.
std::vector<Rows> text_matrices(std::string_view bytes,
                                const std::string& path,
                                PeerId n,
                                bool several) {
  std::vector<Rows> all(1);
  for (NumberRow& row : parse_number_rows(bytes, path)) {
    if (all.back().size() == n && several) all.emplace_back();
    if (all.size() > most_matrices) refuse_count(path + ": ");
    if (row.values.size() != n || all.back().size() == n) {
      refuse_shape(
          path + ":" + std::to_string(row.line) + ": ",
          std::to_string(row.values.size()) + " numbers in row " +
              std::to_string(all.back().size()) +
              (all.size() > 1 ? " of matrix " + std::to_string(all.size() - 1) : std::string()),
          n);
    }
    all.back().push_back(std::move(row.values));
  }
  if (all.back().size() != n)
    refuse_shape(
        path + ": ",
        std::to_string(all.back().size()) + " rows" + (all.size() > 1 ? " in the last" : ""), n);
  return all;
}

Rows npy_rows(const NpyMatrix& m, const std::string& path, PeerId n) {
  if (m.rows != n || m.columns != n)
    refuse_shape(path + ": ", std::to_string(m.rows) + " x " + std::to_string(m.columns), n);
  Rows rows;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double>& row = rows.emplace_back();
    for (std::size_t j = 0; j < n; ++j) row.push_back(m(i, j));
    if (!m.single_precision) continue;
    // Float32 sums to 1 within 1e-7 only: the diagonal gets the rest.
    double sum = -row[i];
    for (const double value : row) sum += value;
    if (std::abs(sum + row[i] - 1) < 1e-5) row[i] = 1 - sum;
  }
  return rows;
}

bool is_npy(const std::string& path) {
  return path.ends_with(".npy");
}

std::vector<Rows> many_of(const std::string& path, PeerId n) {
  const std::string bytes = file_bytes(path);
  if (!is_npy(path)) return text_matrices(without_mark(bytes), path, n, true);
  const std::vector<NpyMatrix> found = parse_npy_matrices(bytes, path);
  if (found.size() > most_matrices) refuse_count(path + ": ");
  std::vector<Rows> all;
  all.reserve(found.size());
  for (const NpyMatrix& m : found) all.push_back(npy_rows(m, path, n));
  return all;
}

bool is_symmetric(const Rows& w) {
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::abs(w[i][j] - w[j][i]) > tolerance) return false;
  return true;
}

/// Takes each nonzero entry off the diagonal for a neighbour. Both ends of an undirected edge take
/// the entry above the diagonal, so that they have the same bits.
std::vector<Neighborhood> sparse(const Rows& w, bool directed) {
  std::vector<Neighborhood> rows;
  rows.reserve(w.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    Neighborhood& row = rows.emplace_back();
    row.self = w[i][i];
    for (std::size_t j = 0; j < w.size(); ++j) {
      const double weight = directed ? w[i][j] : w[std::min(i, j)][std::max(i, j)];
      if (j == i || weight == 0) continue;
      row.peers.push_back(static_cast<PeerId>(j));
      row.weights.push_back(weight);
    }
  }
  return rows;
}

constexpr std::string_view separators = " \t\r\v\f,";

double number_of(std::string_view word, const std::string& path, std::size_t line) {
  std::string_view digits = word;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto value = as_number<double>(digits);
  if (!value || !std::isfinite(*value)) {
    const std::string found = excerpt(word);
    refuse_file(path + ":" + std::to_string(line) + ": ", "`" + found + "` is not a finite number");
  }
  return *value;
}

std::vector<double> numbers_of(std::string_view text, const std::string& path, std::size_t line) {
  std::vector<double> values;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) return values;
    const std::string_view word = text.substr(0, text.find_first_of(separators));
    values.push_back(number_of(word, path, line));
    text.remove_prefix(word.size());
  }
}

}  // namespace

MixingMatrix read_matrix(const std::string& path, const Topology& t) {
  const std::string bytes = file_bytes(path);
  const PeerId n = t.size();
  std::vector<Neighborhood> rows =
      sparse(is_npy(path) ? npy_rows(parse_npy_matrix(bytes, path), path, n)
                          : text_matrices(without_mark(bytes), path, n, false)[0],
             true);
  for (PeerId i = 0; i < n; ++i) {
    for (const PeerId j : rows[i].peers) {
      if (std::ranges::binary_search(t.neighbors[i], j)) continue;
      refuse_file(path + ": ", "a weight for " + std::to_string(i) + " and " + std::to_string(j) +
                                   ", which the topology does not connect");
    }
  }
  return {std::move(rows), t.directed};
}

std::vector<MixingMatrix> read_matrices(const std::string& path, PeerId n) {
  const std::vector<Rows> all = many_of(path, n);
  const bool directed = !std::ranges::all_of(all, is_symmetric);
  std::vector<MixingMatrix> matrices;
  matrices.reserve(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    try {
      matrices.emplace_back(sparse(all[k], directed), directed);
    } catch (const std::invalid_argument& e) {
      refuse_file(path + ": ", "W_" + std::to_string(k) + ": " + e.what());
    }
  }
  return matrices;
}

std::vector<NumberRow> parse_number_rows(std::string_view text, const std::string& path) {
  std::vector<NumberRow> rows;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
    std::vector<double> values = numbers_of(whole.substr(0, whole.find('#')), path, line);
    if (!values.empty()) rows.push_back({line, std::move(values)});
  }
  return rows;
}

std::vector<NumberRow> read_number_rows(const std::string& path) {
  return parse_number_rows(without_mark(file_bytes(path)), path);
}

}  // namespace gv
