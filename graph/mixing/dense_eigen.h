#pragma once

#include <Eigen/Core>

#include "graph/mixing/mixing.h"

namespace gv {

/// Eigenvalues of dense matrices: Eigen's solvers, which take seconds to compile, instantiated in
/// one source for all of the tree.
struct EigenPairs {
  Eigen::VectorXd values;   ///< n, ascending
  Eigen::MatrixXd vectors;  ///< n x n, its column j the vector of values[j], of length 1
};

/// Returns the eigenvalues of a symmetric matrix in ascending order; reads only its lower half.
Eigen::VectorXd symmetric_values(const Eigen::MatrixXd& m);

/// Returns the eigenvalues with their vectors.
EigenPairs symmetric_pairs(const Eigen::MatrixXd& m);

using Entries = Eigen::Ref<const Eigen::VectorXd>;

/// Return them for a symmetric tridiagonal matrix: n entries on its diagonal, n - 1 next to it.
Eigen::VectorXd tridiagonal_values(const Entries& diagonal, const Entries& side);
EigenPairs tridiagonal_pairs(const Entries& diagonal, const Entries& side);

/// Returns the eigenvalues of any square matrix, in no order.
Eigen::VectorXcd general_values(const Eigen::MatrixXd& m);

/// ||M||_2, by the eigenvalues of M^T M.
double largest_singular_value(const Eigen::MatrixXd& m);

/// W with all its zeros, n x n.
inline Eigen::MatrixXd dense_matrix(const MixingMatrix& w) {
  const auto n = static_cast<Eigen::Index>(w.size());
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(n, n);
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood& row = w.row(i);
    m(i, i) = row.self;
    for (std::size_t k = 0; k < row.peers.size(); ++k) m(i, row.peers[k]) = row.weights[k];
  }
  return m;
}

}  // namespace gv
