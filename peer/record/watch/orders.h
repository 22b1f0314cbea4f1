#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace gv {

/// A thing that somebody asks of a launcher while it runs.
struct Order {
  enum class Kind : std::uint8_t { stop, checkpoint, record };
  Kind kind = Kind::stop;
  std::uint64_t number = 0;  ///< counted from 1
  std::uint64_t rounds = 0;  ///< to be recorded
};

/// The place for other threads' orders; the launcher takes them about ten times a second.
class Orders {
 public:
  /// Returns the order's number; 0: so many are waiting already that this one is not taken.
  std::uint64_t give(Order::Kind kind, std::uint64_t rounds = 0);
  std::vector<Order> take();

 private:
  std::mutex mutex_;
  std::uint64_t given_ = 0;
  std::vector<Order> waiting_;
};

}  // namespace gv
