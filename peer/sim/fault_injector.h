#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/world.h"
#include "optim/rng.h"

namespace gv {

/// The things that can go wrong in a simulated fleet.
enum class Fault : std::uint8_t {
  reset,      ///< a connection breaks
  corrupt,    ///< a bit of a frame is flipped
  duplicate,  ///< a frame comes twice
  slice,      ///< a frame comes in pieces, with pauses between them
  cut_off,    ///< no connection between two peers can be made for a while
  one_way,    ///< a connection stalls in one direction, and neither end is told
  half_open,  ///< in both
  partition,  ///< the fleet falls into two parts for a while
  pause,      ///< a process stands still
  slow,       ///< its arithmetic takes longer
  clock,      ///< its clock goes faster or slower
  crash,      ///< it dies with all that it knew; another takes its place, or none
  poison,     ///< its model is no longer finite
  disk_full,  ///< its next checkpoints fail, perhaps half written
  torn,       ///< it dies in the middle of its next checkpoint, and its machine with it
  lie,        ///< it says what is not so (sim_carrier.h)
  accident,   ///< one to three that last long and overlap (faults.h), and nothing else
};
inline constexpr std::array<std::string_view, 17> fault_names{"reset",
                                                              "corrupt",
                                                              "duplicate",
                                                              "slice",
                                                              "cut_off",
                                                              "one_way",
                                                              "half_open",
                                                              "partition",
                                                              "pause",
                                                              "slow",
                                                              "clock",
                                                              "crash",
                                                              "poison",
                                                              "disk_full",
                                                              "torn",
                                                              "lie",
                                                              "accident"};
/// Some of them: a bit for each, 1 << place in Fault.
using FaultClasses = std::uint32_t;
inline constexpr FaultClasses all_faults = (FaultClasses{1} << fault_names.size()) - 1;
std::vector<std::string_view> names_of(FaultClasses classes);
using FaultCounts = std::array<std::uint64_t, fault_names.size()>;

/// Paths of the protocol that a swarm must have walked for its silence to mean anything.
enum class Probe : std::uint8_t {
  sent_again,
  dropped_repetition,
  away,
  back,
  refused_frame,
  silence,     ///< a stalled connection was found out
  replaced,    ///< a neighbour's place was taken by a new process
  left_open,   ///< the dead one left an exchange that counted at one end
  fetched,     ///< a model was given to a peer that had lost its own
  deadline,    ///< a neighbour that lives was waited for no longer
  not_finite,  ///< values that are not finite came and were kept out
  restored,    ///< a process went on from its checkpoint
  unsaved,     ///< a checkpoint failed, and the peer trained on
  lingers,     ///< at its end, for a neighbour that is away and lacks its half
  lent,        ///< a payload was read where it lay
};
inline constexpr std::array<std::string_view, 15> probe_names{"sent_again",
                                                              "dropped_repetition",
                                                              "away",
                                                              "back",
                                                              "refused_frame",
                                                              "silence",
                                                              "replaced",
                                                              "left_open",
                                                              "fetched",
                                                              "deadline",
                                                              "not_finite",
                                                              "restored",
                                                              "unsaved",
                                                              "lingers",
                                                              "lent"};
using ProbeCounts = std::array<std::uint64_t, probe_names.size()>;

/// Chance, and the book of what it brought. Swarm testing: each seed switches each class of fault
/// on or off and draws its rate. Groce et al., "Swarm testing", ISSTA 2012. After `until` nothing
/// more goes wrong.
class FaultInjector {
 public:
  using Trace = std::function<void(const std::string&)>;

  /// `fair`: the seed switches classes on; otherwise nothing is left to chance. `classes`: the
  /// others are off whatever the seed says.
  FaultInjector(
      std::uint64_t seed, Time until, Trace trace, bool fair, FaultClasses classes = all_faults);

  std::uint64_t seed() const { return seed_; }
  Time until() const { return until_; }
  double rate(Fault fault) const { return rates_[static_cast<std::size_t>(fault)]; }
  /// Returns whether a fault befalls this frame, and counts it then.
  bool strikes(Fault fault, Time now);
  std::uint64_t below(std::uint64_t n) { return rng_.below(n); }
  double uniform() { return rng_.uniform(); }
  /// Draws a factor between the two, on a logarithmic scale.
  double factor(double least, double most);
  Time time(Time least, Time most);

  void count(Fault fault) { ++faults_[static_cast<std::size_t>(fault)]; }
  void count(Probe probe) { ++probes_[static_cast<std::size_t>(probe)]; }
  const FaultCounts& faults() const { return faults_; }
  const ProbeCounts& probes() const { return probes_; }

  /// A thing that happened. Every run's notes are hashed; they become text only when somebody
  /// reads.
  void note(Time now, const char* what, PeerId a, PeerId b = 0, std::uint64_t number = 0);
  std::uint64_t hash() const { return hash_; }
  bool traced() const { return static_cast<bool>(trace_); }
  void tell(Time now, const std::string& text) const;

 private:
  std::uint64_t seed_;
  Rng rng_;
  Time until_;
  Trace trace_;
  std::array<double, fault_names.size()> rates_{};  ///< per second, or per frame; 0: off
  FaultCounts faults_{};
  ProbeCounts probes_{};
  std::uint64_t hash_ = 0;
};

}  // namespace gv
