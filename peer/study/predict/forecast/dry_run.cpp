#include "peer/study/predict/forecast/dry_run.h"

#include <algorithm>
#include <cstdint>

#include "peer/sim/blank_replica.h"
#include "peer/sim/simulation.h"

namespace gv {
namespace {

/// A dry run of more rounds would take too long, and the rare one hardly counts.
constexpr Round most_period = 1000;

constexpr Round least_rounds = 8;

/// Rounds of all peers together if rounds take unlike times.
constexpr Round most_unlike = 10'000;

/// Returns whether rounds take unlike times: pairs, graphs or the peers that train are drawn, or
/// whoever comes first is served.
bool is_drawn(const Assembly& fleet) {
  const Setup& setup = *fleet.setup;
  const auto fraction = setup.settings.find("fraction");
  const bool some = fraction != setup.settings.end() && fraction->second < 1;
  return !fleet.algorithm->synchronous || setup.scheduled || some;
}

/// A whole number of periods.
Round rounds_that_tell(const Assembly& fleet) {
  const auto period_of = fleet.algorithm->period;
  const Round period = period_of == nullptr ? 1 : std::min(most_period, period_of(*fleet.setup));
  return period * std::max<Round>(1, least_rounds / period);
}

/// The last rounds of a chain without a flush, in which less and less goes forward.
Round rounds_that_empty(const Assembly& fleet) {
  const std::optional<ParallelSpec>& parallel = fleet.fleet.parallel;
  const bool flushes = !parallel || parallel->schedule == ParallelSpec::Schedule::flush;
  return flushes ? 0 : parallel->stages - 1;
}

/// The fleet is done when its slowest peer is.
Round rounds_of_all(const Assembly& fleet) {
  return std::min(fleet.rounds, std::max(least_rounds, most_unlike / fleet.fleet.size()));
}

}  // namespace

DryRun dry_run(const Assembly& fleet, const NetworkSpec& network) {
  const bool alike = !is_drawn(fleet);
  const Round half = rounds_that_tell(fleet);
  SimulationOptions options;
  options.threads = 1;
  options.network = network;
  options.rounds = alike ? 2 * half + rounds_that_empty(fleet) : rounds_of_all(fleet);
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
  const Time all = simulate(fleet, blind, options).virtual_time;
  std::uint64_t most = 0;
  for (const auto& [peer, report] : blind.finals()) most = std::max(most, report.costs.sent_bytes);
  const auto rounds = static_cast<double>(options.rounds);
  return {.seconds_per_round = alike ? in_seconds(ended - began) / static_cast<double>(half)
                                     : in_seconds(all) / rounds,
          .bytes_per_round = static_cast<double>(most) / rounds};
}

}  // namespace gv
