#include "graph/mixing/share_rate.h"

#include <cmath>
#include <stdexcept>
#include <string>

#include <Eigen/Core>

#include "graph/mixing/dense_eigen.h"
#include "graph/mixing/share_weights.h"

namespace gv {

double share_rate(const Topology& t, std::span<const double> shares) {
  constexpr PeerId most_peers = 512;
  if (t.size() > most_peers)
    throw std::invalid_argument("shares: the eigenvalues of at most " + std::to_string(most_peers) +
                                " peers are computed, not of " + std::to_string(t.size()));
  const std::vector<Neighborhood> rows = share_rows(t, shares);
  // W is similar to this symmetric matrix, whose eigenvector for 1 has the square roots of p.
  const auto n = static_cast<Eigen::Index>(t.size());
  Eigen::MatrixXd symmetric = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd roots(n);
  for (PeerId i = 0; i < t.size(); ++i) {
    roots(i) = std::sqrt(shares[i]);
    symmetric(i, i) = rows[i].self;
    for (std::size_t k = 0; k < rows[i].peers.size(); ++k)
      symmetric(i, rows[i].peers[k]) =
          rows[i].weights[k] / std::sqrt(shares[i] * shares[rows[i].peers[k]]);
  }
  roots.normalize();
  symmetric -= roots * roots.transpose();
  return symmetric_values(symmetric).cwiseAbs().maxCoeff();
}

}  // namespace gv
