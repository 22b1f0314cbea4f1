#include "optim/data/minibatch.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gv {
namespace {

std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> rows) {
  std::ranges::sort(rows);
  return rows;
}

}  // namespace

Minibatches::Minibatches(std::vector<std::uint32_t> rows, Rng rng, AugmentSpec augment)
    : order_(std::move(rows)),
      position_(order_.size()),
      rng_(rng),
      augment_(augment),
      view_rng_(rng.derive("views")) {
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
  views_.clear();
  if (augment_.any()) {
    for (std::uint32_t i = 0; i < batch; ++i) views_.push_back(draw_view(augment_, view_rng_));
  }
  return chosen_;
}

void Minibatches::save(StateWriter& out) const {
  out.name("minibatches");
  out.values(order_);
  out.u64(position_);
  rng_.save(out);
  if (!augment_.any()) return;
  out.name("views");
  view_rng_.save(out);
}

void Minibatches::restore(StateReader& in) {
  in.name("minibatches");
  std::vector<std::uint32_t> order(order_.size());
  in.values(order);
  if (sorted(order) != sorted(order_))
    throw std::runtime_error("training state: minibatches of other rows than this peer's");
  const std::uint64_t position = in.u64();
  if (position > order.size())
    throw std::runtime_error("training state: a position beyond the rows of an epoch");
  order_ = std::move(order);
  position_ = position;
  rng_.restore(in);
  if (!augment_.any()) return;
  in.name("views");
  view_rng_.restore(in);
}

}  // namespace gv
