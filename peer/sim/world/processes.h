#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "gossip/seam/world.h"
#include "optim/machine/inplace_function.h"

namespace gv {

/// An event; large enough for a message and its receiver.
using Event = InplaceFunction<88>;

/// An event with its receiver.
struct Waiting {
  Event event;
  bool idle = false;
  PeerId peer = 0;  ///< the affected peer, if given
};

/// Events in virtual time, ordered by time and then by arrival. Equal peers act at the same
/// instant, so few instants hold many events: the events of an instant wait in a row, and only the
/// instants are sorted.
class EventQueue {
 public:
  Time now() const { return now_; }
  bool empty() const { return instants_.empty(); }
  /// Returns whether more events happen at the current instant.
  bool more_now() const { return !empty() && instants_.begin()->first <= now_; }
  void push(Time at, Event event) { add(at, {std::move(event)}); }
  /// Pushes an event that affects only this peer.
  void push(Time at, PeerId peer, Event event) { add(at, {std::move(event), false, peer}); }
  /// Pushes an event that recurs for ever whether or not it has an effect: heartbeats, dials
  /// without an answer.
  void push_idle(Time at, Event event) { add(at, {std::move(event), true}); }
  /// Returns the time since which only idle events have happened, if only idle events are left;
  /// now() otherwise.
  Time idle_since() const { return busy_ > 0 ? now_ : last_busy_; }
  /// Moves the clock to the next event and runs it.
  void run_next();
  /// Moves the clock to the next event and returns all events of that time, in order. Events that
  /// they cause at the same time come later.
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

  Instants instants_;                          ///< each with events to come
  Instants::iterator last_ = instants_.end();  ///< instant of the last push
  std::vector<Instants::node_type> spare_;     ///< finished and empty; their memory is reused
  Time now_{0};
  std::uint64_t busy_ = 0;  ///< events to come that are not idle
  Time last_busy_{0};
  std::uint64_t events_ = 0;
};

/// The processes of a simulated fleet. Each can stop for a while, be slow, have its own clock, die,
/// and be replaced.
class Processes {
 public:
  Processes(EventQueue& queue, PeerId n) : queue_(queue), all_(n) {}

  /// Runs f at `at` on the peer's loop if it is still in this life; later if it is paused then.
  /// `idle`: see EventQueue.
  void run_at(Time at, PeerId peer, std::uint64_t life, std::function<void()> f, bool idle = false);
  void run_at(Time at, PeerId peer, std::function<void()> f) {
    run_at(at, peer, life(peer), std::move(f));
  }

  void pause(PeerId peer, Time until);
  void slow(PeerId peer, double factor) { all_[peer].slowness = factor; }
  void set_clock(PeerId peer, double rate);
  void set_clock_ahead(PeerId peer, Time by);  ///< makes its clock jump
  void die(PeerId peer);
  void rise(PeerId peer) { all_[peer].dead = false; }

  bool awake(PeerId peer) const { return !dead(peer) && queue_.now() >= all_[peer].paused_until; }
  bool dead(PeerId peer) const { return all_[peer].dead; }
  /// Returns the total pause until now, over all its lives.
  Time stood_still(PeerId peer) const;
  std::uint64_t life(PeerId peer) const { return all_[peer].life; }
  double slowness(PeerId peer) const { return all_[peer].slowness; }
  Time clock(PeerId peer) const;             ///< present time of its clock
  Time when(PeerId peer, Time shown) const;  ///< virtual time at which its clock shows that

 private:
  struct Process {
    std::uint64_t life = 0;
    bool dead = false;
    Time paused_until{0};
    Time paused{0};  ///< sum of pauses, the present one up to its end
    double slowness = 1;
    double rate = 1;     ///< virtual seconds per clock second since `set_at`
    Time set_at{0};      ///< time of the last change of its rate
    Time shown_then{0};  ///< time that its clock showed then
    std::vector<std::function<void()>> waiting;  ///< events for the end of the pause
  };
  void resume(PeerId peer);
  static Time shown_at(const Process& process, Time time);

  EventQueue& queue_;
  std::vector<Process> all_;
};

}  // namespace gv
