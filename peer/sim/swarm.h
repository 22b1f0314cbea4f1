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
  int jobs = 0;                                ///< seeds at a time; 0: as many as there are cores
  Time until{std::chrono::milliseconds(500)};  ///< faults until then, in virtual time
  FaultClasses classes = all_faults;           ///< no others happen
  LinkParts links{};                           ///< the tests' own
  FaultInjector::Trace trace;  ///< a line for all that happens; may be empty. For one seed
  /// Events of one seed after which it is abandoned: it is not judged. 0: never.
  std::uint64_t most_events = 0;
  std::function<bool()> interrupted;
  std::function<void(std::uint64_t done)> on_progress;
  PeerParts parts{};  ///< instead of the real ones
};

struct SwarmResult {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  FaultCounts faults{};
  ProbeCounts probes{};
  std::uint64_t trace_hash = 0;  ///< of all that happened: the same whenever the same seeds run
  std::uint64_t violations = 0;
  /// Seeds without death, poison and lies, of a fleet that waits for everybody: their models were
  /// compared with those of an undisturbed run.
  std::uint64_t compared = 0;
  std::uint64_t abandoned = 0;  ///< seeds, see SwarmOptions::most_events
  double largest_drift = 0;
  std::optional<std::uint64_t> first_failing_seed;
  std::vector<std::string> texts;  ///< the violations of the first failing seed

  std::uint64_t sum_of_faults() const;
  /// Takes in the seeds of another swarm. Of what fails first, its own stays.
  void add(const SwarmResult& other);
};

Judgement judgement_of(const Assembly& fleet);
/// Says why a swarm cannot judge this fleet, and the setting with which it can; "" when it can.
std::string swarm_objection(const Assembly& fleet);

/// Runs one fleet under many fault seeds. The same seed gives the same run, whatever the number of
/// jobs.
SwarmResult swarm(const Assembly& fleet, const SwarmOptions& options);

}  // namespace gv
