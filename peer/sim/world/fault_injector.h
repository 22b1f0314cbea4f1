#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/seam/world.h"
#include "optim/rng.h"

namespace gv {

/// Kinds of faults in a simulated fleet.
enum class Fault : std::uint8_t {
  reset,      ///< a connection breaks
  corrupt,    ///< a bit of a frame is flipped
  duplicate,  ///< a frame comes twice
  slice,      ///< a frame comes in pieces, with pauses between them
  cut_off,    ///< no connection between two peers is possible for a while
  one_way,    ///< a connection stalls in one direction, unnoticed by both ends
  half_open,  ///< a connection stalls in both directions
  partition,  ///< the fleet falls into two parts for a while
  pause,      ///< a process stops for a while
  slow,       ///< its arithmetic takes longer
  clock,      ///< its clock runs faster or slower
  crash,      ///< a process dies with its memory; another may replace it
  poison,     ///< its model is no longer finite
  disk_full,  ///< its next checkpoints fail, perhaps half written
  torn,       ///< it dies while writing its next checkpoint, and its machine with it
  lie,        ///< it sends false messages (sim_network.h)
  accident,   ///< one to three long, overlapping accidents (faults.h), and nothing else
};
inline constexpr std::array<std::string_view, 17> fault_names{
    "reset",     "corrupt",   "duplicate", "slice", "cut_off", "one_way",
    "half_open", "partition", "pause",     "slow",  "clock",   "crash",
    "poison",    "disk_full", "torn",      "lie",   "accident"};
/// A set of fault classes, one bit each: 1 << index in Fault.
using FaultClasses = std::uint32_t;
inline constexpr FaultClasses all_faults = (FaultClasses{1} << fault_names.size()) - 1;
std::vector<std::string_view> names_of(FaultClasses classes);
using FaultCounts = std::array<std::uint64_t, fault_names.size()>;

/// Protocol paths that a swarm must have reached for a run without violations to mean something.
enum class Probe : std::uint8_t {
  sent_again,
  dropped_repetition,
  away,
  back,
  refused_frame,
  silence,     ///< a stalled connection was detected
  replaced,    ///< a new process replaced a neighbour
  left_open,   ///< a dead peer left an exchange that counted at one end
  fetched,     ///< a peer that lost its model received one
  deadline,    ///< a wait for a live neighbour reached the deadline
  not_finite,  ///< values that are not finite arrived and were rejected
  restored,    ///< a process resumed from its checkpoint
  unsaved,     ///< a checkpoint failed and the peer continued
  lingers,     ///< an ending peer waited for an absent neighbour that lacks its half
  lent,        ///< a payload was read in shared memory
};
inline constexpr std::array<std::string_view, 15> probe_names{
    "sent_again", "dropped_repetition", "away",      "back",    "refused_frame",
    "silence",    "replaced",           "left_open", "fetched", "deadline",
    "not_finite", "restored",           "unsaved",   "lingers", "lent"};
using ProbeCounts = std::array<std::uint64_t, probe_names.size()>;

/// Random faults, with counts of faults and probes. Swarm testing: each seed switches each class of
/// fault on or off and draws its rate. Groce et al., "Swarm testing", ISSTA 2012. No fault happens
/// after `until`.
class FaultInjector {
 public:
  using Trace = std::function<void(const std::string&)>;

  /// `fair`: the seed switches classes on; otherwise no faults are random. `classes`: all others
  /// are off for any seed.
  FaultInjector(
      std::uint64_t seed, Time until, Trace trace, bool fair, FaultClasses classes = all_faults);

  std::uint64_t seed() const { return seed_; }
  Time until() const { return until_; }
  double rate(Fault fault) const { return rates_[static_cast<std::size_t>(fault)]; }
  /// Returns whether a fault hits this frame, and counts it.
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

  /// Records an event. All events of a run are hashed; they become text only if there is a trace.
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
