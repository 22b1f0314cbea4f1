#include "peer/study/predict/forecast/dry_run.h"

#include <algorithm>
#include <chrono>

#include "peer/sim/blank_fleet.h"
#include "peer/sim/simulation.h"

namespace gv {
namespace {

/// A dry run of more rounds would take too long, and the rare one hardly counts.
constexpr Round most_period = 1000;

/// A whole number of periods. Where pairs are drawn and whoever comes first is served, rounds take
/// unlike times: the mean of as many as cost about the same in any fleet.
Round rounds_that_tell(const Assembly& fleet) {
  const auto period_of = fleet.algorithm->period;
  const Round period = period_of == nullptr ? 1 : std::min(most_period, period_of(*fleet.setup));
  const Round enough =
      fleet.algorithm->synchronous ? 8 : std::clamp<Round>(2000 / fleet.fleet.size(), 8, 200);
  return period * std::max<Round>(1, enough / period);
}

/// The last rounds of a chain without a flush, in which less and less goes forward.
Round rounds_that_empty(const Assembly& fleet) {
  const std::optional<ParallelSpec>& parallel = fleet.fleet.parallel;
  const bool flushes = !parallel || parallel->schedule == ParallelSpec::Schedule::flush;
  return flushes ? 0 : parallel->stages - 1;
}

}  // namespace

DryRun dry_run(const Assembly& fleet, const NetworkSpec& network) {
  const Round half = rounds_that_tell(fleet);
  SimulationOptions options;
  options.threads = 1;
  options.network = network;
  options.rounds = 2 * half + rounds_that_empty(fleet);
  options.replica = blank_replicas(fleet);
  // The second half: the first holds the start, and what may follow it the end.
  Time began{0};
  Time ended{0};
  options.on_progress = [&](Round round, Time now) {
    if (round <= half) began = now;
    if (round <= 2 * half) ended = now;
  };
  // It waits for one report more than there are peers, so it never looks at models.
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  simulate(fleet, blind, options);
  std::uint64_t most = 0;
  for (const auto& [peer, report] : blind.finals()) most = std::max(most, report.costs.sent_bytes);
  const auto rounds = static_cast<double>(half);
  return {.seconds_per_round = in_seconds(ended - began) / rounds,
          .bytes_per_round = static_cast<double>(most) / static_cast<double>(options.rounds)};
}

}  // namespace gv
