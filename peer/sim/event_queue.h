#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gossip/world.h"

namespace gv {

/// Virtual time: what happens next, in order of time, and in order of arrival within one instant.
class EventQueue {
 public:
  Time now() const { return now_; }
  bool empty() const { return heap_.empty(); }
  /// True when something more happens at this very instant.
  bool more_now() const { return !heap_.empty() && heap_.front().at <= now_; }
  void push(Time at, std::function<void()> f);
  /// Moves the clock to the next event and runs it.
  void run_next();
  std::uint64_t events() const { return events_; }

 private:
  struct Event {
    Time at;
    std::uint64_t order;
    std::function<void()> f;
  };
  static bool later(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
  std::vector<Event> heap_;
  Time now_{0};
  std::uint64_t pushed_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace gv
