#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gossip/world.h"
#include "optim/inplace_function.h"

namespace gv {

/// A thing that happens at a time: large enough for a message and whom it comes to.
using Event = InplaceFunction<88>;

/// An event that waits for its time.
struct Waiting {
  Event event;
  bool idle = false;
  PeerId peer = 0;  ///< that it happens to, where the pusher said
};

/// Virtual time: what happens next, in order of time, and in order of arrival within one instant.
/// Equal peers do the same at the same instant, so that few instants hold many events: these wait
/// in a row, and only the instants are sorted.
class EventQueue {
 public:
  Time now() const { return now_; }
  bool empty() const { return instants_.empty(); }
  /// True when something more happens at this very instant.
  bool more_now() const { return !empty() && instants_.begin()->first <= now_; }
  void push(Time at, Event event) { add(at, {std::move(event)}); }
  /// It touches nothing but this peer.
  void push(Time at, PeerId peer, Event event) { add(at, {std::move(event), false, peer}); }
  /// Does the same for what goes on for ever, whether anything comes of it or not: signs of life,
  /// dials that nobody answers.
  void push_idle(Time at, Event event) { add(at, {std::move(event), true}); }
  /// Returns since when nothing but such events has happened, with none but such to come; now():
  /// there are others.
  Time idle_since() const { return busy_ > 0 ? now_ : last_busy_; }
  /// Moves the clock to the next event and runs it.
  void run_next();
  /// Moves the clock to the next event, and hands out all that wait for that time, in order. What
  /// they bring about at the same time comes after them.
  void take_row(std::vector<Waiting>& row);
  std::uint64_t events() const { return events_; }

 private:
  struct Instant {
    std::vector<Waiting> waiting{};
    std::size_t next = 0;
  };
  using Instants = std::map<Time, Instant>;
  void add(Time at, Waiting waiting);
  Instant& instant(Time at);
  void end_first();
  void count(const Waiting& begun);

  Instants instants_;                          ///< each with something to come
  Instants::iterator last_ = instants_.end();  ///< the one that was last pushed to
  std::vector<Instants::node_type> spare_;     ///< over, and empty: their memory is used again
  Time now_{0};
  std::uint64_t busy_ = 0;  ///< events to come that are not idle
  Time last_busy_{0};
  std::uint64_t events_ = 0;
};

}  // namespace gv
