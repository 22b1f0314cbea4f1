#include "graph/mixing/push_sum.h"

#include <stdexcept>

#include <Eigen/Dense>

namespace gv {
namespace {

constexpr PeerId most_peers = 512;

/// P: column j has what j sends, and keeps.
Eigen::MatrixXd shares(const Topology& t) {
  const auto n = static_cast<Eigen::Index>(t.size());
  Eigen::MatrixXd p = Eigen::MatrixXd::Identity(n, n);
  for (PeerId i = 0; i < t.size(); ++i)
    for (const PeerId j : t.neighbors[i]) p(i, j) = 1;
  for (Eigen::Index j = 0; j < n; ++j) p.col(j) /= p.col(j).sum();
  return p;
}

/// The solution of P v = v with sum 1: one row of I - P, which the others imply, becomes the sum.
Eigen::VectorXd perron_vector(const Eigen::MatrixXd& p) {
  const Eigen::Index n = p.rows();
  Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n) - p;
  system.row(n - 1).setOnes();
  return system.partialPivLu().solve(Eigen::VectorXd::Unit(n, n - 1));
}

}  // namespace

PushSum push_sum(const Topology& t) {
  if (t.size() > most_peers) {
    throw std::invalid_argument("push-sum: the eigenvalues of at most " +
                                std::to_string(most_peers) + " peers are computed, not of " +
                                std::to_string(t.size()));
  }
  require_connected(t);
  const Eigen::MatrixXd p = shares(t);
  const Eigen::VectorXd perron = perron_vector(p);
  // The eigenvalue 1 is moved to 0, the others stay (Brauer 1952).
  const Eigen::MatrixXd rest = p - perron * Eigen::RowVectorXd::Ones(p.rows());
  return {rest.eigenvalues().cwiseAbs().maxCoeff(), {perron.begin(), perron.end()}};
}

}  // namespace gv
