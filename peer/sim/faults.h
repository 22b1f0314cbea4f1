#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "gossip/journal.h"
#include "gossip/message.h"
#include "gossip/world.h"
#include "optim/rng.h"
#include "peer/fleet/specs.h"
#include "peer/sim/fault_injector.h"
#include "peer/sim/processes.h"
#include "peer/sim/sim_network.h"

namespace gv {

/// One thing that goes wrong with a peer of a simulated fleet at a given time, and is over after
/// `length`.
struct Accident {
  enum class Kind : std::uint8_t {
    freeze,   ///< the process stands still
    cut,      ///< no connection with `other`
    one_way,  ///< nothing that it sends reaches `other`, and no new connection can be made
    kill,     ///< the process dies; another one takes its place after `length`, if it can
    slow,     ///< its arithmetic takes `factor` times as long
    clock,    ///< its clock jumps ahead by `length`
  };
  Kind kind = Kind::freeze;
  PeerId peer = 0;
  std::optional<PeerId> other{};  ///< cut, one_way; nobody: whoever it has a link to
  Time at{0};
  Time length{0};
  double factor = 1;
  bool succeeds = true;  ///< kill: another process is started
};

/// The bounds of accidents that are drawn.
struct AccidentBounds {
  PeerId peers = 1;
  std::function<std::vector<PeerId>(PeerId)> links{};  ///< whom each has a link to
  Time from{0};                                        ///< none begins before,
  Time until{0};                                       ///< and none lasts longer
  Time least{0};                                       ///< length of most accidents
  bool kills = true;
};

/// Draws one to three accidents, each of which begins before the one before it is over: a peer that
/// stands still, dies and has a successor, or is slow for a while; cuts of one edge or of all edges
/// of a peer, both ways or one way.
std::vector<Accident> overlapping_accidents(Rng rng, const AccidentBounds& bounds);

/// The things that the faults do to a peer beyond its network and its clock.
struct FaultHands {
  std::function<void(PeerId)> die;          ///< the process is gone
  std::function<void(PeerId)> rise;         ///< another one takes its place
  std::function<void(PeerId, Round)> leap;  ///< it passes over rounds, up to this one
  /// The first peer no longer waits for the last half of the second.
  std::function<void(PeerId, PeerId)> give_up;
  /// These return false where there is nothing to harm: it is dead, or has finished.
  std::function<bool(PeerId)> poison;
  std::function<bool(PeerId)> lie;  ///< from now on nothing that it says is believed
  std::function<bool(PeerId)> fill_disk;
  std::function<bool(PeerId)> tear;  ///< it is to die in the middle of its next checkpoint
};

/// Lets things go wrong in a simulated fleet: at times that are drawn, or as the fleet file
/// asks.
class Faults {
 public:
  /// `parts` must outlive it. `dead_after`: see LinkTimes; what is drawn lasts up to twice as long,
  /// so that some of it is noticed and some is not.
  Faults(SimShared& shared,
         FaultInjector& injector,
         FaultHands hands,
         const LinkParts& parts,
         Time dead_after);

  /// `succeed`: who dies may have a successor.
  void start(bool succeed);
  /// `restart`: who was killed has a successor without being asked for.
  void inject(const std::vector<Injection>& list, bool restart);
  void suffer(const std::vector<Accident>& accidents);
  void heard(PeerId from, const PeerEvent& event);  ///< what a peer notes in its journal
  bool crash(PeerId victim);
  /// It has not met all that it needs: its process ends, as a real one does.
  void cannot_begin(PeerId peer);
  Processes& processes() { return processes_; }
  SimNetwork& network() { return network_; }
  FaultInjector& injector() { return injector_; }

 private:
  Time now() const { return shared_.queue.now(); }
  void plan_next(Fault fault);
  bool strike(Fault fault);
  void inject(const Injection& injection, bool restart);
  void strike(const Accident& accident);
  void part(const Accident& accident);
  bool kill(PeerId victim, bool with_machine);
  void succeed(PeerId victim);
  bool pause(PeerId victim, Time length);
  bool slow(PeerId victim, double factor);
  bool set_clock(PeerId victim, double rate);
  bool lie(PeerId victim);

  /// Draws a time between a fortieth and the double of dead_after.
  Time drawn_length();

  SimShared& shared_;
  FaultInjector& injector_;
  Time dead_after_;
  bool succeeded_ = true;  ///< who dies may be
  FaultHands hands_;
  Processes processes_;
  SimNetwork network_;
};

}  // namespace gv
