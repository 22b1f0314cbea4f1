#include "optim/minibatch.h"

#include <stdexcept>
#include <utility>

namespace gv {

Minibatches::Minibatches(std::vector<std::uint32_t> rows, Rng rng)
    : order_(std::move(rows)), position_(order_.size()), rng_(rng) {
  if (order_.empty()) throw std::invalid_argument("a peer without samples cannot draw a minibatch");
}

std::span<const std::uint32_t> Minibatches::next(std::uint32_t batch) {
  chosen_.clear();
  while (chosen_.size() < batch) {
    if (position_ == order_.size()) {
      rng_.shuffle(order_);
      position_ = 0;
    }
    chosen_.push_back(order_[position_++]);
  }
  return chosen_;
}

}  // namespace gv
