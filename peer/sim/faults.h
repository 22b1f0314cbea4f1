#pragma once

#include <functional>
#include <vector>

#include "gossip/journal.h"
#include "peer/fleet/specs.h"
#include "peer/sim/accident.h"
#include "peer/sim/fault_injector.h"
#include "peer/sim/processes.h"
#include "peer/sim/sim_network.h"

namespace gv {

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
