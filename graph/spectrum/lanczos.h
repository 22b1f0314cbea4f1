#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// An eigenvalue known to within `error`.
struct RitzValue {
  double value = 0;
  double error = 0;
};

/// The Lanczos recurrence A V = V T + beta v e^T on a symmetric operator of size n, three vectors
/// long. There is no reorthogonalization: copies of converged values appear, but the extreme
/// values of T still converge (Paige, "Accuracy and effectiveness of the Lanczos algorithm for the
/// symmetric eigenproblem", Linear Algebra Appl. 1980), and a million rows need 24 MB instead of a
/// basis.
class Lanczos {
 public:
  /// y = A x; both of length n, no aliasing.
  using Apply = std::function<void(const double* x, double* y)>;

  /// Starts with `start` (length n, not zero), inside the subspace that `apply` keeps.
  Lanczos(Apply apply, std::vector<double> start);

  /// Extends T to k rows, or until the subspace is exhausted.
  void extend(std::size_t k);
  std::size_t steps() const { return diagonal_.size(); }
  bool exhausted() const { return exhausted_; }

  /// Returns the extreme Ritz values, within min(r, r^2 / distance to the next one), r being the
  /// residual norm (Parlett, "The symmetric eigenvalue problem", SIAM 1998, chapters 4 and 13), and
  /// within the accumulated rounding.
  struct Ends {
    RitzValue smallest, largest;
  };
  Ends ends() const;

  /// Gauss quadrature of the measure that `start` (of norm 1) puts on the spectrum: nodes are the
  /// Ritz values, weights the squared first components of T's eigenvectors (Golub & Welsch 1969).
  struct Quadrature {
    std::vector<double> nodes, weights;
  };
  Quadrature quadrature() const;

 private:
  double last_component(double value) const;
  RitzValue end(double value, double next) const;

  Apply apply_;
  std::vector<double> previous_, current_, image_;
  std::vector<double> diagonal_, side_;  ///< T; side_[k] couples k and k + 1
  bool exhausted_ = false;
};

/// A start vector of length n that sums to zero and has a part in every mode, even on symmetric
/// graphs.
std::vector<double> scattered(std::size_t n, std::uint64_t seed);

/// The end of W's spectrum, seen as the smallest eigenvalue of a positive semidefinite matrix.
enum class SpectrumEnd {
  mixing,      ///< I - W on the complement of the all-ones vector: 1 - lambda_2
  alternation  ///< I + W: 1 + lambda_n
};

/// The cost of a sparse factorization of W's pattern, from its symbolic analysis.
struct FactorCost {
  double entries = 0;  ///< number of entries in the factor
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
