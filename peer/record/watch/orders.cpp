#include "peer/record/watch/orders.h"

#include <utility>

namespace gv {

std::uint64_t Orders::give(Order::Kind kind, std::uint64_t rounds) {
  constexpr std::size_t most_waiting = 64;
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting) return 0;
  waiting_.push_back({kind, ++given_, rounds});
  return given_;
}

std::vector<Order> Orders::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

}  // namespace gv
