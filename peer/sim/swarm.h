#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace gv
