#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace gv {

using Doubles = std::vector<double>;
/// y = A x for a symmetric A; both of the same length.
using SymmetricProduct = std::function<Doubles(const Doubles& x)>;

/// Eigenpairs from a Krylov space, by descending |value|. vectors: orthonormal.
struct LeadingPairs {
  Doubles values;
  std::vector<Doubles> vectors;
};
/// Runs Lanczos with full orthogonalization and `steps` products. Returns the pairs whose residual
/// is at most `tolerance` times the largest |value|. Lanczos,
/// "An iteration method for the solution of the eigenvalue problem", J. Res. NBS 1950; Paige 1972.
LeadingPairs leading_pairs(const SymmetricProduct& a,
                           Doubles start,
                           std::size_t steps,
                           double tolerance);

/// Returns all pairs of the Krylov space of `start`, converged or not: axes in which phi(A) start
/// equals its value in the whole space, to the accuracy of `steps` products.
LeadingPairs ritz_pairs(const SymmetricProduct& a, Doubles start, std::size_t steps);

/// Gauss quadrature of the measure that `start` induces on the spectrum; weights sum to 1. Golub &
/// Welsch 1969; Ubaru, Chen & Saad 2017.
struct KrylovQuadrature {
  Doubles nodes, weights;
};
KrylovQuadrature krylov_quadrature(const SymmetricProduct& a, Doubles start, std::size_t steps);

double dot(const Doubles& a, const Doubles& b);
/// y <- y + factor x.
void add_scaled(Doubles& y, double factor, const Doubles& x);
/// Removes from v its component in the span of an orthonormal basis.
void project_out(Doubles& v, const std::vector<Doubles>& basis);

}  // namespace gv
