#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// The processes of a simulated fleet: each can stand still, be slow, have a clock of its own, die,
/// and have a successor.
class Processes {
 public:
  Processes(EventQueue& queue, PeerId n) : queue_(queue), all_(n) {}

  /// Runs f at `at` on the peer's loop, if it is still in this life: later when it is paused then.
  /// `idle`: see EventQueue.
  void run_at(Time at, PeerId peer, std::uint64_t life, std::function<void()> f, bool idle = false);
  void run_at(Time at, PeerId peer, std::function<void()> f) {
    run_at(at, peer, life(peer), std::move(f));
  }

  void pause(PeerId peer, Time until);
  void slow(PeerId peer, double factor) { all_[peer].slowness = factor; }
  void set_clock(PeerId peer, double rate);
  void set_clock_ahead(PeerId peer, Time by);  ///< it jumps
  void die(PeerId peer);
  void rise(PeerId peer) { all_[peer].dead = false; }

  bool awake(PeerId peer) const { return !dead(peer) && queue_.now() >= all_[peer].paused_until; }
  bool dead(PeerId peer) const { return all_[peer].dead; }
  /// Returns how long it stood still in all until now, in all its lives.
  Time stood_still(PeerId peer) const;
  std::uint64_t life(PeerId peer) const { return all_[peer].life; }
  double slowness(PeerId peer) const { return all_[peer].slowness; }
  Time clock(PeerId peer) const;             ///< what its clock shows now
  Time when(PeerId peer, Time shown) const;  ///< it will show that

 private:
  struct Process {
    std::uint64_t life = 0;
    bool dead = false;
    Time paused_until{0};
    Time paused{0};  ///< all pauses, this one up to its end
    double slowness = 1;
    double rate = 1;                             ///< our seconds in one of its own, since `set_at`
    Time set_at{0};                              ///< when its clock was given this rate
    Time shown_then{0};                          ///< and what it showed
    std::vector<std::function<void()>> waiting;  ///< for the end of the pause
  };
  void resume(PeerId peer);
  static Time shown_at(const Process& process, Time time);

  EventQueue& queue_;
  std::vector<Process> all_;
};

}  // namespace gv
