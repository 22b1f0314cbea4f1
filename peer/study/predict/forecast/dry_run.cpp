#include "peer/study/predict/forecast/dry_run.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "peer/sim/blank_fleet.h"
#include "peer/sim/simulation.h"

namespace gv {
namespace {

/// A dry run of more rounds would take too long, and the rare one hardly counts.
constexpr Round most_period = 1000;

constexpr Round least_rounds = 8;

/// Rounds of all peers together where pairs are drawn and whoever comes first is served: they take
/// unlike times.
constexpr Round most_unlike = 10'000;

/// A whole number of periods.
Round rounds_that_tell(const Assembly& fleet) {
  const auto period_of = fleet.algorithm->period;
  const Round period = period_of == nullptr ? 1 : std::min(most_period, period_of(*fleet.setup));
  return period * std::max<Round>(1, least_rounds / period);
}

/// What a fleet takes until all have done so many rounds.
struct Whole {
  Time time{0};
  std::vector<std::uint64_t> sent{};  ///< bytes, by peer
};

Whole run(const Assembly& fleet, const NetworkSpec& network, Round rounds) {
  SimulationOptions options;
  options.threads = 1;
  options.network = network;
  options.rounds = rounds;
  options.replica = blank_replicas(fleet);
  // It waits for one report more than there are peers, so it never looks at models.
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  Whole whole{.time = simulate(fleet, blind, options).virtual_time};
  for (const auto& [peer, report] : blind.finals()) whole.sent.push_back(report.costs.sent_bytes);
  return whole;
}

}  // namespace

DryRun dry_run(const Assembly& fleet, const NetworkSpec& network) {
  const auto dry = [&](const Whole& whole, Round all, Time time, Round rounds) {
    return DryRun{.seconds_per_round = in_seconds(time) / static_cast<double>(rounds),
                  .bytes_per_round =
                      static_cast<double>(std::ranges::max(whole.sent)) / static_cast<double>(all)};
  };
  if (!fleet.algorithm->synchronous) {
    const Round enough = std::max(least_rounds, most_unlike / fleet.fleet.size());
    const Round rounds = std::min(fleet.rounds, enough);
    const Whole whole = run(fleet, network, rounds);
    return dry(whole, rounds, whole.time, rounds);
  }
  const Round rounds = rounds_that_tell(fleet);
  const Whole once = run(fleet, network, rounds);
  const Whole twice = run(fleet, network, 2 * rounds);
  return dry(twice, 2 * rounds, twice.time - once.time, rounds);
}

}  // namespace gv
