#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// Reads W from a file: n lines of n numbers (see read_number_rows), or .npy in float32 or float64.
/// Weights must lie on edges of t. Throws GraphFileError that names the file and the line, and
/// std::invalid_argument if W is not doubly stochastic.
MixingMatrix read_matrix(const std::string& path, const Topology& t);

/// Reads W_0, W_1, ... of n peers from a file: n lines of n numbers for each, in succession, or
/// .npy of shape (count, n, n). An entry that is not 0 connects two peers in its round; all are
/// directed if one is not symmetric within 1e-12. Throws GraphFileError that names the file, and
/// the line or the matrix, also if a matrix is not doubly stochastic.
std::vector<MixingMatrix> read_matrices(const std::string& path, PeerId n);

/// Maximum number of matrices in a file.
inline constexpr std::size_t most_matrices = 10'000;

/// A line of numbers in a text file.
struct NumberRow {
  std::size_t line = 0;  ///< from 1
  std::vector<double> values;
};

/// The lines of finite numbers in `text`, separated by spaces or commas; `#` begins a comment, and
/// lines without numbers are left out. Throws GraphFileError "path:line: what".
std::vector<NumberRow> parse_number_rows(std::string_view text, const std::string& path);

/// Reads the number rows of a file; see file_bytes for files that are refused.
std::vector<NumberRow> read_number_rows(const std::string& path);

}  // namespace gv
