#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// A mixing matrix in compressed rows: the same numbers without a vector per peer, so that a
/// million rows are read in one sweep. Most matrices hold few different weights (Metropolis' are
/// 1 / (1 + degree)): then an entry is the place of its weight in a table of them, since a product
/// waits for the memory that the matrix takes.
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
  // or the different ones, and where each is among them.
  std::vector<double> table_;
  std::vector<std::uint8_t> places_;
  std::vector<std::uint8_t> self_places_;
};

/// v <- v - mean(v): the all-ones direction is W's eigenvalue 1 and says nothing about mixing.
void subtract_mean(double* v, std::size_t n);

}  // namespace gv
