#include "graph/mixing/share_weights.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include <Eigen/Core>
#include <Eigen/Dense>

#include "graph/mixing/dense_eigen.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 512;

/// P: column j has the shares that j sends, and keeps.
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

constexpr std::uint64_t most_pushes = 4'000'000, most_rounds = 20'000, least_rounds = 64;

/// The weights w of all peers, and the shares under way.
class RowWeights {
 public:
  RowWeights(PeerId n, std::uint64_t overlap)
      : w_(n, 1.0), under_way_(overlap + 1, std::vector<double>(n)) {}

  /// Returns the number of pushes.
  std::uint64_t push(std::uint64_t round, const ReceiversOf& receivers_of) {
    std::vector<double>& sent = under_way_[round % under_way_.size()];
    std::uint64_t pushes = w_.size();
    for (PeerId i = 0; i < w_.size(); ++i) {
      const std::vector<PeerId> receivers = receivers_of(round, i);
      w_[i] /= 1.0 + static_cast<double>(receivers.size());
      for (const PeerId j : receivers) sent[j] += w_[i];
      pushes += receivers.size();
    }
    std::vector<double>& come = under_way_[(round + 1) % under_way_.size()];
    for (PeerId i = 0; i < w_.size(); ++i) w_[i] += std::exchange(come[i], 0.0);
    return pushes;
  }
  const std::vector<double>& now() const { return w_; }

 private:
  std::vector<double> w_;
  std::vector<std::vector<double>> under_way_;  ///< by round: the share that each peer receives
};

}  // namespace

std::vector<Neighborhood> share_rows(const Topology& t, std::span<const double> shares) {
  if (t.directed)
    throw std::invalid_argument(
        "weights `shares` move both ends of an edge, and this topology is directed: take an "
        "undirected one, such as `ring`");
  if (shares.size() != t.size() ||
      !std::ranges::all_of(shares, [](double p) { return std::isfinite(p) && p > 0; }))
    throw std::invalid_argument("weights `shares` need a share above 0 of each peer");
  const auto offer = [&](PeerId i) {
    return shares[i] / (1 + static_cast<double>(t.neighbors[i].size()));
  };
  std::vector<Neighborhood> rows(t.size());
  for (PeerId i = 0; i < t.size(); ++i) {
    Neighborhood& row = rows[i];
    row.peers = row.receivers = t.neighbors[i];
    for (const PeerId j : row.peers) {
      row.weights.push_back(std::min(offer(i), offer(j)));
      row.self -= row.weights.back() / shares[i];
    }
  }
  return rows;
}

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

std::vector<double> least_weights(PeerId n,
                                  std::uint64_t overlap,
                                  const ReceiversOf& receivers_of) {
  RowWeights weights(n, overlap);
  std::vector<double> least(n, 1.0);
  const std::uint64_t pushes = weights.push(0, receivers_of);
  const std::uint64_t rounds =
      std::max(least_rounds + 2 * overlap, std::min(most_rounds, most_pushes / pushes));
  for (std::uint64_t round = 1; round < rounds; ++round) {
    weights.push(round, receivers_of);
    if (round < rounds / 2) continue;
    for (PeerId i = 0; i < n; ++i) least[i] = std::min(least[i], weights.now()[i]);
  }
  return least;
}

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
