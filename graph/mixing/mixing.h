#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// Row i of W, as peer i needs it: x_i <- self x_i + sum_j weights[j] x_{peers[j]}.
struct Neighborhood {
  double self = 1;
  std::vector<PeerId> peers;    ///< peers whose vectors arrive, ascending
  std::vector<double> weights;  ///< W_{i, peers[j]}
  std::vector<PeerId>
      receivers;  ///< peers that i sends to, ascending; equals peers if W is symmetric in pattern

  /// Returns W_ij for j != i; 0 if j is not among the peers.
  double weight_of(PeerId j) const;
};

/// A doubly stochastic mixing matrix, sparse by rows. The constructor throws std::invalid_argument
/// with the worst row and column and their sums unless every row and column sums to 1 within 1e-12,
/// and, unless `directed`, W_ij == W_ji within 1e-12. Weights may be negative (FDLA) but must be
/// finite.
class MixingMatrix {
 public:
  MixingMatrix(std::vector<Neighborhood> rows, bool directed);

  PeerId size() const { return static_cast<PeerId>(rows_.size()); }
  bool directed() const { return directed_; }
  const Neighborhood& row(PeerId i) const { return rows_[i]; }

  /// y = W x (both of length n; no aliasing). The operator for the spectrum code.
  void apply(const double* x, double* y) const;
  void apply_transposed(const double* x, double* y) const;

 private:
  std::vector<Neighborhood> rows_;
  bool directed_;
};

/// W_ij = weight(i, j) for every j that i receives from; the rest stays on the diagonal.
MixingMatrix weighted_matrix(const Topology& t,
                             const std::function<double(PeerId, PeerId)>& weight);

/// Metropolis-Hastings weights: W_ij = 1 / (1 + max(deg_i, deg_j)) on edges, the rest on the
/// diagonal. Symmetric and doubly stochastic for every undirected graph. A directed circulant
/// (static exponential) gets 1/(1+deg). Xiao, Boyd & Lall, "A scheme for robust distributed sensor
/// fusion based on average consensus", IPSN 2005.
MixingMatrix metropolis(const Topology& t);
/// W_ij = 1 / (1 + deg_max).
MixingMatrix max_degree(const Topology& t);
/// (I + W_metropolis) / 2: all eigenvalues >= 0.
MixingMatrix lazy(const Topology& t);
/// The weights that came with the graph. Throws std::invalid_argument when none did.
MixingMatrix listed_weights(const Topology& t);

/// A mixing matrix in compressed rows: the same numbers without a vector per peer, so that a
/// million rows are read in one sweep. Most matrices hold few different weights (Metropolis' are
/// 1 / (1 + degree)): an entry is then an index into a table of weights, because memory limits the
/// speed of a product.
class SparseRows {
 public:
  explicit SparseRows(const MixingMatrix& w);

  std::size_t size() const { return begin_.size() - 1; }
  std::size_t entries() const { return peers_.size(); }  ///< off the diagonal
  /// y = W x (both of length n; no aliasing).
  void apply(const double* x, double* y) const;

  /// f(i, j, W_ij) for every j != i with a weight, row by row.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k)
        f(i, std::size_t{peers_[k]}, weight(k));
    }
  }
  double self(std::size_t i) const { return self_.empty() ? table_[self_places_[i]] : self_[i]; }

 private:
  static constexpr std::size_t most_places = std::numeric_limits<std::uint8_t>::max();
  double weight(std::size_t k) const { return self_.empty() ? table_[places_[k]] : weights_[k]; }

  std::vector<std::size_t> begin_;  ///< n + 1; row i is [begin_[i], begin_[i + 1])
  std::vector<PeerId> peers_;
  // Either the weights themselves,
  std::vector<double> weights_;
  std::vector<double> self_;
  // or the different ones, and the index of each entry among them.
  std::vector<double> table_;
  std::vector<std::uint8_t> places_;
  std::vector<std::uint8_t> self_places_;
};

/// v <- v - mean(v): the all-ones direction is W's eigenvalue 1 and does not affect mixing.
void subtract_mean(double* v, std::size_t n);

}  // namespace gv
