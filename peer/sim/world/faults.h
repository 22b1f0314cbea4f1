#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "gossip/seam/journal.h"
#include "gossip/seam/message.h"
#include "gossip/seam/world.h"
#include "optim/rng.h"
#include "peer/fleet/specs.h"
#include "peer/sim/world/fault_injector.h"
#include "peer/sim/world/processes.h"
#include "peer/sim/world/sim_network.h"

namespace gv {

/// A fault of one peer in a simulated fleet, from a given time for `length`.
struct Accident {
  enum class Kind : std::uint8_t {
    freeze,   ///< the process stops
    cut,      ///< no connection with `other`
    one_way,  ///< nothing that it sends reaches `other`, and new connections fail
    kill,     ///< the process dies; another replaces it after `length`, if possible
    slow,     ///< its arithmetic takes `factor` times as long
    clock,    ///< its clock jumps ahead by `length`
  };
  Kind kind = Kind::freeze;
  PeerId peer = 0;
  std::optional<PeerId> other{};  ///< for cut and one_way; none: all its links
  Time at{0};
  Time length{0};
  double factor = 1;
  bool succeeds = true;  ///< for kill: another process is started
};

/// Limits for random accidents.
struct AccidentBounds {
  PeerId peers = 1;
  std::function<std::vector<PeerId>(PeerId)> links{};  ///< links of each peer
  Time from{0};                                        ///< earliest start
  Time until{0};                                       ///< latest end
  Time least{0};                                       ///< minimum length of most accidents
  bool kills = true;
};

/// Draws one to three accidents, each of which begins before the previous one ends: a peer stops,
/// dies and is replaced, or is slow for a while; one edge or all edges of a peer are cut, in both
/// directions or one.
std::vector<Accident> overlapping_accidents(Rng rng, const AccidentBounds& bounds);

/// Effects of faults on a peer other than on its network and clock.
struct FaultHands {
  std::function<void(PeerId)> die;          ///< the process has died
  std::function<void(PeerId)> rise;         ///< another process replaces it
  std::function<void(PeerId, Round)> leap;  ///< it has skipped to this round
  /// The first peer stops waiting for the last half of the second.
  std::function<void(PeerId, PeerId)> give_up;
  /// The following return false if there is nothing to harm: the peer is dead or has finished.
  std::function<bool(PeerId)> poison;
  std::function<bool(PeerId)> lie;  ///< marks it as a liar from now on
  std::function<bool(PeerId)> fill_disk;
  std::function<bool(PeerId)> tear;  ///< it dies while writing its next checkpoint
};

/// Injects faults into a simulated fleet, at random times or as the fleet file specifies.
class Faults {
 public:
  /// `parts` must outlive this object. `dead_after`: see LinkTimes; random faults last up to twice
  /// as long, so that some are detected and some are not.
  Faults(SimShared& shared,
         FaultInjector& injector,
         FaultHands hands,
         const LinkParts& parts,
         Time dead_after);

  /// `succeed`: whether dead peers may be replaced.
  void start(bool succeed);
  /// `restart`: whether killed peers are replaced automatically.
  void inject(const std::vector<Injection>& list, bool restart);
  void suffer(const std::vector<Accident>& accidents);
  void heard(PeerId from, const PeerEvent& event);  ///< handles an event of a peer's journal
  bool crash(PeerId victim);
  /// Ends the process of a peer that has not met all required neighbours, as a real one ends.
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

  /// Draws a time between dead_after / 40 and 2 dead_after.
  Time drawn_length();

  SimShared& shared_;
  FaultInjector& injector_;
  Time dead_after_;
  bool succeeded_ = true;  ///< whether dead peers may be replaced
  FaultHands hands_;
  Processes processes_;
  SimNetwork network_;
};

}  // namespace gv
