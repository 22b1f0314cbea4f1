#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace gv {

/// A request to a running launcher.
struct Order {
  enum class Kind : std::uint8_t { stop, checkpoint, record };
  Kind kind = Kind::stop;
  std::uint64_t number = 0;  ///< counted from 1
  std::uint64_t rounds = 0;  ///< number of rounds to record
};

/// Queue for orders of other threads, which the launcher takes about ten times a second.
class Orders {
 public:
  /// Returns the order's number, or 0 if the queue is full and the order was rejected.
  std::uint64_t give(Order::Kind kind, std::uint64_t rounds = 0);
  std::vector<Order> take();

 private:
  std::mutex mutex_;
  std::uint64_t given_ = 0;
  std::vector<Order> waiting_;
};

}  // namespace gv
