#pragma once

#include <cstdint>
#include <vector>

#include "graph/mixing/mixing.h"

namespace gv {

/// A mixing matrix in compressed rows: the same numbers without a vector per peer, so that a
/// million rows are read in one sweep.
class SparseRows {
 public:
  explicit SparseRows(const MixingMatrix& w);

  std::size_t size() const { return self_.size(); }
  std::size_t entries() const { return peers_.size(); }  ///< off the diagonal
  /// y = W x (both of length n; no aliasing).
  void apply(const double* x, double* y) const;

  /// f(i, j, W_ij) for every j != i with a weight, row by row.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k)
        f(i, std::size_t{peers_[k]}, weights_[k]);
    }
  }
  double self(std::size_t i) const { return self_[i]; }

 private:
  std::vector<std::size_t> begin_;  ///< n + 1; row i is [begin_[i], begin_[i + 1])
  std::vector<PeerId> peers_;
  std::vector<double> weights_;
  std::vector<double> self_;
};

/// v <- v - mean(v): the all-ones direction is W's eigenvalue 1 and says nothing about mixing.
void subtract_mean(double* v, std::size_t n);

}  // namespace gv
