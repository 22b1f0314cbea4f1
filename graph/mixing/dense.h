#pragma once

#include <Eigen/Core>

#include "graph/mixing/mixing.h"

namespace gv {

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
