#pragma once

#include <string>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// W from a file: n lines of n numbers (see graph/formats/number_rows.h), or .npy in float32 or
/// float64. Weights must lie on edges of t. Throws GraphFileError that names the file and the line,
/// and std::invalid_argument when W is not doubly stochastic.
MixingMatrix read_matrix(const std::string& path, const Topology& t);

/// W_0, W_1, ... of n peers from a file: n lines of n numbers for each, one behind the other, or
/// .npy of shape (count, n, n). An entry that is not 0 connects two peers in its round; all are
/// directed when one is not symmetric within 1e-12. Throws GraphFileError that names the file, and
/// the line or the matrix, also where one is not doubly stochastic.
std::vector<MixingMatrix> read_matrices(const std::string& path, PeerId n);

/// The most matrices that a file may have.
inline constexpr std::size_t most_matrices = 10'000;

}  // namespace gv
