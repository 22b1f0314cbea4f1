#pragma once

#include <string>

#include "graph/mixing/mixing.h"

namespace gv {

/// W from a file: n lines of n numbers (see graph/formats/number_rows.h), or .npy in float32 or
/// float64. Weights must lie on edges of t. Throws GraphFileError that names the file and the line,
/// and std::invalid_argument when W is not doubly stochastic.
MixingMatrix read_matrix(const std::string& path, const Topology& t);

}  // namespace gv
