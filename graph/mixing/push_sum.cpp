#include "graph/mixing/push_sum.h"

#include <cmath>
#include <stdexcept>

#include <Eigen/Dense>

#include "graph/mixing/dense_eigen.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 512;

/// P: column j has what j sends, and keeps.
Eigen::MatrixXd shares(const Topology& t) {
  const auto n = static_cast<Eigen::Index>(t.size());
  const std::vector<Neighborhood> rows = push_sum_rows(t);
  Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n, n);
  for (PeerId i = 0; i < t.size(); ++i) {
    p(i, i) = rows[i].self;
    for (std::size_t k = 0; k < rows[i].peers.size(); ++k)
      p(i, rows[i].peers[k]) = rows[i].weights[k];
  }
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

std::vector<Neighborhood> push_sum_rows(const Topology& t) {
  std::vector<Neighborhood> rows(t.size());
  for (PeerId i = 0; i < t.size(); ++i)
    for (const PeerId j : t.neighbors[i]) rows[j].receivers.push_back(i);
  const auto share = [&](PeerId j) {
    return 1 / (1 + static_cast<double>(rows[j].receivers.size()));
  };
  for (PeerId i = 0; i < t.size(); ++i) {
    rows[i].self = share(i);
    rows[i].peers = t.neighbors[i];
    for (const PeerId j : t.neighbors[i]) rows[i].weights.push_back(share(j));
  }
  return rows;
}

bool shares_evenly(const MixingMatrix& w) {
  const auto even = [&](PeerId j, double weight) {
    const auto shares = 1 + static_cast<double>(w.row(j).receivers.size());
    return std::abs(weight - 1 / shares) <= 1e-6;
  };
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood& row = w.row(i);
    if (!even(i, row.self)) return false;
    for (std::size_t k = 0; k < row.peers.size(); ++k)
      if (!even(row.peers[k], row.weights[k])) return false;
  }
  return true;
}

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
  return {general_values(rest).cwiseAbs().maxCoeff(), {perron.begin(), perron.end()}};
}

}  // namespace gv
