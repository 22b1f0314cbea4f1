#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gossip/world.h"
#include "peer/sim/event_queue.h"

namespace gv {

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
