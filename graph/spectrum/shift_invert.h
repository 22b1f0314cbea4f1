#pragma once

#include "graph/mixing/sparse_rows.h"
#include "graph/spectrum/lanczos.h"

namespace gv {

/// The end of W's spectrum, seen as the smallest eigenvalue of a positive semidefinite matrix.
enum class SpectrumEnd {
  mixing,      ///< I - W on the complement of the all-ones vector: 1 - lambda_2
  alternation  ///< I + W: 1 + lambda_n
};

/// The cost of a sparse factorization of W's pattern, from its symbolic analysis.
struct FactorCost {
  double entries = 0;  ///< of the factor
  double flops = 0;
};
FactorCost factor_cost(const SparseRows& w);

/// The smallest eigenvalue by shift-invert Lanczos: the sparse LDL^T factor (approximate minimum
/// degree ordering) of the matrix minus a shift just below it, an eigenvector from the inverse, and
/// the Rayleigh quotient of that vector as a sum over edges, sum_ij W_ij (x_i -+ x_j)^2, in which
/// nothing cancels: a gap of 1e-9 keeps its digits. Ericsson & Ruhe, "The spectral transformation
/// Lanczos method", Math. Comp. 1980. `above`: an upper bound, such as a Ritz value.
/// Undirected W only. Throws std::runtime_error when it does not converge.
RitzValue shift_invert(const SparseRows& w, SpectrumEnd end, double above);

}  // namespace gv
