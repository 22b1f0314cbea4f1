#include "graph/mixing/sparse_rows.h"

namespace gv {

SparseRows::SparseRows(const MixingMatrix& w) {
  begin_.reserve(w.size() + std::size_t{1});
  begin_.push_back(0);
  for (PeerId i = 0; i < w.size(); ++i) {
    const Neighborhood& row = w.row(i);
    self_.push_back(row.self);
    peers_.insert(peers_.end(), row.peers.begin(), row.peers.end());
    weights_.insert(weights_.end(), row.weights.begin(), row.weights.end());
    begin_.push_back(peers_.size());
  }
}

void SparseRows::apply(const double* x, double* y) const {
  for (std::size_t i = 0; i < size(); ++i) {
    double sum = self_[i] * x[i];
    for (std::size_t k = begin_[i]; k < begin_[i + 1]; ++k) sum += weights_[k] * x[peers_[k]];
    y[i] = sum;
  }
}

void subtract_mean(double* v, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += v[i];
  const double mean = sum / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) v[i] -= mean;
}

}  // namespace gv
