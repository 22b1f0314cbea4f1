#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"

namespace gv {

struct SwarmOptions {
  std::uint64_t first = 1;
  std::uint64_t last = 1;                      ///< inclusive
  int jobs = 0;                                ///< simultaneous seeds; 0: one per core
  Time until{std::chrono::milliseconds(500)};  ///< end of faults, in virtual time
  FaultClasses classes = all_faults;           ///< all others are off
  LinkParts links{};                           ///< replaced by tests
  FaultInjector::Trace trace;  ///< called with a line for each event; may be empty. For one seed
  /// Events of a seed after which it is abandoned without judgement. 0: unlimited.
  std::uint64_t most_events = 0;
  std::function<bool()> interrupted;
  std::function<void(std::uint64_t done)> on_progress;
  PeerParts parts{};  ///< replacements for the real ones
};

struct SwarmResult {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  FaultCounts faults{};
  ProbeCounts probes{};
  std::uint64_t trace_hash = 0;  ///< hash of all events; the same for the same seeds
  std::uint64_t violations = 0;
  /// Seeds without death, poison and lies, of a fleet in which all peers wait for each other: their
  /// models were compared with those of an undisturbed run.
  std::uint64_t compared = 0;
  std::uint64_t abandoned = 0;  ///< seeds, see SwarmOptions::most_events
  double largest_drift = 0;
  std::optional<std::uint64_t> first_failing_seed;
  std::vector<std::string> texts;  ///< violations of the first failing seed

  std::uint64_t sum_of_faults() const;
  /// Adds the seeds of another swarm. Keeps its own first failure, if any.
  void add(const SwarmResult& other);
};

Judgement judgement_of(const Assembly& fleet);
/// Returns why a swarm cannot judge this fleet, and a setting with which it can; empty if it can.
std::string swarm_objection(const Assembly& fleet);

/// Runs a fleet under many fault seeds. A seed gives the same run for any number of jobs.
SwarmResult swarm(const Assembly& fleet, const SwarmOptions& options);

/// Start and length of the accident, and times of the checks. Pace is measured from `settle` after
/// the accident's end, when links are restored, to the end of the run.
struct HealingTimes {
  Time at{std::chrono::seconds(3)};
  Time length{std::chrono::seconds(8)};
  Time settle{std::chrono::seconds(12)};
  Time afterwards{std::chrono::seconds(12)};
  LinkTimes links{};
  Time end() const { return at + length + settle + afterwards; }
};

/// The state of a fleet at the end of a run, and its pace before.
struct Health {
  std::vector<double> pace;  ///< rounds per second after settling, by peer
  double loss = 0;           ///< median loss of the fleet's model after settling
  double spread = 0;         ///< range of this loss
  double earlier_loss = 0;   ///< earlier loss, by the duration of accident and settling
  double consensus = 0;      ///< median after settling
  bool ended = true;         ///< no peer was lost or awaited in vain, and no rule was broken
  std::string wrong;         ///< first reason for `ended` being false
};

/// One accident, and its effect on a fleet.
struct Healing {
  std::string_view accident;
  std::string refused{};  ///< why the method cannot survive it; may be none
  double pace = 0;        ///< largest change of a peer's pace, as a ratio
  Health before{}, after{};
  std::vector<std::string> failures{};  ///< figures that did not recover
};

/// Names of the accidents, in the order of heal().
std::vector<std::string_view> accident_names();

/// Returns why a method cannot survive the death of a peer; empty if it can.
std::string objection_to_death(const AlgorithmRow& row);

/// Runs a fleet through one accident after the other, each in its own run, and compares its end
/// with an undisturbed run of the same seed: a pace within a factor of two and never more than
/// twice, flows over each edge (steadiness.h), loss and distance of models within a tolerance.
/// Ignores the fleet's `stop`, and keeps its initial learning rate. `on_done`: called after each
/// accident. `parts`: replacements for the peers' parts.
std::vector<Healing> heal(const Fleet& fleet,
                          const HealingTimes& times,
                          const std::function<void(const Healing&)>& on_done = {},
                          const PeerParts& parts = {});

}  // namespace gv
