#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace gv {

using Doubles = std::vector<double>;
/// y = A x of a symmetric A; both of the same length.
using SymmetricProduct = std::function<Doubles(const Doubles& x)>;

/// Eigenpairs that a Krylov space has found, by falling |value|. vectors: orthonormal.
struct LeadingPairs {
  Doubles values;
  std::vector<Doubles> vectors;
};
/// Lanczos with every vector orthogonalized against all before, `steps` products; pairs whose
/// residual is at most `tolerance` times the largest |value|. Lanczos, "An iteration method for the
/// solution of the eigenvalue problem", J. Res. NBS 1950; Paige 1972.
LeadingPairs leading_pairs(const SymmetricProduct& a,
                           Doubles start,
                           std::size_t steps,
                           double tolerance);

/// All pairs of the Krylov space of `start`, whether they have settled or not: axes in which
/// phi(A) start is what it is in the whole space, as nearly as `steps` products can say.
LeadingPairs ritz_pairs(const SymmetricProduct& a, Doubles start, std::size_t steps);

/// Gauss quadrature of the measure that `start` puts on the spectrum, weights summing to 1. Golub &
/// Welsch 1969; Ubaru, Chen & Saad 2017.
struct KrylovQuadrature {
  Doubles nodes, weights;
};
KrylovQuadrature krylov_quadrature(const SymmetricProduct& a, Doubles start, std::size_t steps);

double dot(const Doubles& a, const Doubles& b);
/// y <- y + factor x.
void add_scaled(Doubles& y, double factor, const Doubles& x);
/// Takes from v what lies in the span of an orthonormal basis.
void project_out(Doubles& v, const std::vector<Doubles>& basis);

}  // namespace gv
