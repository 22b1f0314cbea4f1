#include "peer/sim/swarm.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "gossip/algorithm.h"
#include "optim/machine/workers.h"

namespace gv {
namespace {

bool keeps_the_sum(const AlgorithmRow& row) {
  return row.promise == Promise::mean || row.promise == Promise::tracking;
}

/// Returns whether links have a sending and a receiving end: their flows are in no ledger, and
/// whatever arrives late is missing from the sum.
bool directed(const Assembly& fleet) {
  return fleet.schedule ? fleet.schedule->directed() : fleet.topology.directed;
}

/// Returns whether all flows are in the ledgers of both ends.
bool averages_by_exchanges(const Assembly& fleet) {
  return keeps_the_sum(*fleet.algorithm) && fleet.algorithm->channels == nullptr &&
         !directed(fleet);
}

/// Returns whether all of this seed's faults only caused delays.
bool only_delayed(const SimulationResult& result) {
  const auto happened = [&](Fault fault) {
    return result.faults[static_cast<std::size_t>(fault)] > 0;
  };
  return result.whole() && !happened(Fault::crash) && !happened(Fault::poison) &&
         !happened(Fault::torn) && !happened(Fault::lie);
}

std::string undisturbed_bits(const Assembly& fleet) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  simulate(fleet, observer, options);
  return observer.params_hash();
}

/// Properties of a fleet that do not depend on the seed.
struct Undisturbed {
  std::string bits;  ///< not compared if empty
  Usual usual;
};

struct Seed {
  SimulationResult result;
  bool compared = false;  ///< compared with an undisturbed run
};

Seed run_seed(const Assembly& fleet,
              std::uint64_t seed,
              const SwarmOptions& all,
              const Undisturbed& undisturbed) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.links = all.links;
  options.faults = FaultPlan{seed, all.until, all.trace};
  options.faults->judgement = judgement_of(fleet);
  options.faults->times = swarm_times(fleet);
  options.faults->classes = all.classes;
  options.faults->usual = &undisturbed.usual;
  // A dead stage has no successor, because no other peer knows the minibatch in flight.
  options.faults->succeed =
      !fleet.fleet.parallel &&
      (averages_by_exchanges(fleet) || (fleet.algorithm->succeeds && fleet.fleet.restart));
  options.parts = all.parts;
  options.abandon = [&all](std::uint64_t events) {
    return (all.most_events > 0 && events > all.most_events) ||
           (all.interrupted && all.interrupted());
  };
  Seed one{.result = simulate(fleet, observer, options)};
  one.compared = !one.result.abandoned && !undisturbed.bits.empty() && only_delayed(one.result);
  if (one.compared && observer.params_hash() != undisturbed.bits)
    one.result.violations.emplace_back(
        "all lived, and the models are not those of an undisturbed run");
  return one;
}

void add(SwarmResult& all, std::uint64_t seed, const SimulationResult& one) {
  ++all.seeds;
  if (one.abandoned) ++all.abandoned;
  all.events += one.events;
  for (std::size_t k = 0; k < all.faults.size(); ++k) all.faults[k] += one.faults[k];
  for (std::size_t k = 0; k < all.probes.size(); ++k) all.probes[k] += one.probes[k];
  all.trace_hash += one.trace_hash;
  all.violations += one.violations.size();
  all.largest_drift = std::max(all.largest_drift, one.drift);
  if (one.violations.empty() || (all.first_failing_seed && *all.first_failing_seed < seed)) return;
  all.first_failing_seed = seed;
  all.texts = one.violations;
}

/// Returns false if rounds continue without a late peer (faults.deadline), or if there are actors:
/// which transitions a memory holds depends on the actors' speeds.
bool waits_for_everybody(const Assembly& fleet) {
  return has_same_bits(*fleet.algorithm, fleet.setup->settings) && fleet.setup->actors == 0 &&
         fleet.fleet.faults.deadline == Time{0};
}

}  // namespace

Judgement judgement_of(const Assembly& fleet) {
  const AlgorithmRow& row = *fleet.algorithm;
  const bool endless = fleet.fleet.faults.deadline == Time{0};
  switch (row.promise) {
    case Promise::mean:
    case Promise::tracking:
      if (averages_by_exchanges(fleet)) return Judgement::mean;
      return endless && !directed(fleet) ? Judgement::sum : Judgement::finite;
    case Promise::agreement:
    case Promise::once:
      // Between two collectives, averaging continues without an absent peer.
      return waits_for_everybody(fleet) && !row.mixes ? Judgement::bits : Judgement::finite;
    case Promise::push_sum:
    case Promise::nothing:
      return Judgement::finite;
  }
  return Judgement::finite;
}

std::string swarm_objection(const Assembly& fleet) {
  const Promise promise = fleet.algorithm->promise;
  const bool asynchronous = promise == Promise::once && !fleet.algorithm->synchronous;
  const bool by_messages = keeps_the_sum(*fleet.algorithm) && fleet.algorithm->channels != nullptr;
  const bool waits = promise == Promise::agreement || asynchronous || by_messages;
  const bool pushes = fleet.algorithm->mixes && promise != Promise::agreement &&
                      (directed(fleet) || judgement_of(fleet) == Judgement::finite);
  const bool endless = fleet.fleet.faults.deadline == Time{0};
  if (directed(fleet) && promise != Promise::push_sum)
    return "along one-way links a late message is lost, and no ledger shows it: take an undirected "
           "graph, or sgp";
  if (waits && !endless)
    return "its promise holds only if all peers wait without a deadline: --set "
           "faults.deadline='0 s'";
  if (pushes && endless)
    return "if faults separate peers that push and receive, they wait for each other in a circle "
           "until a deadline: "
           "--set faults.deadline='50 ms'";
  return "";
}

std::uint64_t SwarmResult::sum_of_faults() const {
  return std::accumulate(faults.begin(), faults.end(), std::uint64_t{0});
}

void SwarmResult::add(const SwarmResult& other) {
  seeds += other.seeds;
  events += other.events;
  for (std::size_t k = 0; k < faults.size(); ++k) faults[k] += other.faults[k];
  for (std::size_t k = 0; k < probes.size(); ++k) probes[k] += other.probes[k];
  trace_hash += other.trace_hash;
  violations += other.violations;
  compared += other.compared;
  abandoned += other.abandoned;
  largest_drift = std::max(largest_drift, other.largest_drift);
  if (first_failing_seed || !other.first_failing_seed) return;
  first_failing_seed = other.first_failing_seed;
  texts = other.texts;
}

SwarmResult swarm(const Assembly& fleet, const SwarmOptions& options) {
  SwarmResult all;
  const bool compares = judgement_of(fleet) == Judgement::bits;
  const Undisturbed undisturbed{.bits = compares ? undisturbed_bits(fleet) : "",
                                .usual = usual_of(fleet)};
  std::mutex mutex;
  std::atomic<std::uint64_t> next = options.first;
  const auto work = [&] {
    for (std::uint64_t seed = next++; seed <= options.last; seed = next++) {
      if (options.interrupted && options.interrupted()) return;
      const Seed one = run_seed(fleet, seed, options, undisturbed);
      const std::lock_guard lock(mutex);
      all.compared += one.compared ? 1 : 0;
      add(all, seed, one.result);
      if (options.on_progress) options.on_progress(all.seeds);
    }
  };
  const unsigned cores = usable_cores().count();
  std::vector<std::thread> threads;
  try {
    for (unsigned t = 0; t < (options.jobs > 0 ? static_cast<unsigned>(options.jobs) : cores); ++t)
      threads.emplace_back(work);
  } catch (const std::system_error&) {
    if (threads.empty()) work();  // no more threads are available: fewer threads run the same seeds
  }
  for (std::thread& thread : threads) thread.join();
  return all;
}

}  // namespace gv
