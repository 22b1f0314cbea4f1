#pragma once

#include <cstdint>
#include <functional>
#include <utility>
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
  void push(Time at, std::function<void()> f) { push(at, std::move(f), false); }
  /// The same for what goes on for ever, whether anything comes of it or not: signs of life, dials
  /// that nobody answers.
  void push_idle(Time at, std::function<void()> f) { push(at, std::move(f), true); }
  /// Since when nothing but such events has happened, with none but such to come; now(): there are
  /// others.
  Time idle_since() const { return busy_ > 0 ? now_ : last_busy_; }
  /// Moves the clock to the next event and runs it.
  void run_next();
  std::uint64_t events() const { return events_; }

 private:
  struct Event {
    Time at;
    std::uint64_t order;
    bool idle;
    std::function<void()> f;
  };
  void push(Time at, std::function<void()> f, bool idle);
  static bool later(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
  std::vector<Event> heap_;
  Time now_{0};
  std::uint64_t busy_ = 0;  ///< events to come that are not idle
  Time last_busy_{0};
  std::uint64_t pushed_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace gv
