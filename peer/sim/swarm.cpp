#include "peer/sim/swarm.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>

namespace gv {
namespace {

bool averages(const Assembly& fleet) {
  const Promise promise = fleet.algorithm->promise;
  return promise == Promise::mean || promise == Promise::tracking;
}

/// Whether the fleet ends with the bits of an undisturbed run as long as all live and are honest.
/// Where peers average, one that was away does other rounds than its neighbours.
bool waits_for_all(const Assembly& fleet) {
  const Promise promise = fleet.algorithm->promise;
  const bool everybody = promise == Promise::agreement || promise == Promise::once;
  return everybody && fleet.fleet.faults.deadline == Time{0};
}

/// Whether all of this seed's faults were such as only delay.
bool only_delayed(const SimulationResult& result) {
  const auto happened = [&](Fault fault) {
    return result.faults[static_cast<std::size_t>(fault)] > 0;
  };
  return result.lost.empty() && result.broken_by.empty() && !happened(Fault::crash) &&
         !happened(Fault::poison) && !happened(Fault::torn) && !happened(Fault::lie);
}

std::string undisturbed_bits(const Assembly& fleet) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  simulate(fleet, observer, options);
  return observer.params_hash();
}

/// `bits`: of an undisturbed run; empty: they are not to be compared.
SimulationResult run_seed(const Assembly& fleet,
                          std::uint64_t seed,
                          const SwarmOptions& all,
                          const std::string& bits,
                          bool& compared) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.links = all.links;
  options.faults = FaultPlan{seed, all.until, all.trace};
  options.faults->succeed = averages(fleet);
  options.parts = all.parts;
  SimulationResult result = simulate(fleet, observer, options);
  compared = !bits.empty() && only_delayed(result);
  if (!compared) return result;
  if (observer.params_hash() != bits)
    result.violations.emplace_back("all lived, and the models are not those of an undisturbed run");
  return result;
}

void add(SwarmResult& all, std::uint64_t seed, const SimulationResult& one) {
  ++all.seeds;
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

}  // namespace

std::uint64_t SwarmResult::all_faults() const {
  return std::accumulate(faults.begin(), faults.end(), std::uint64_t{0});
}

SwarmResult swarm(const Assembly& fleet, const SwarmOptions& options) {
  SwarmResult all;
  const std::string bits = waits_for_all(fleet) ? undisturbed_bits(fleet) : "";
  std::mutex mutex;
  std::atomic<std::uint64_t> next = options.first;
  const auto work = [&] {
    for (std::uint64_t seed = next++; seed <= options.last; seed = next++) {
      if (options.interrupted && options.interrupted()) return;
      bool compared = false;
      const SimulationResult one = run_seed(fleet, seed, options, bits, compared);
      const std::lock_guard lock(mutex);
      all.compared += compared ? 1 : 0;
      add(all, seed, one);
      if (options.on_progress) options.on_progress(all.seeds);
    }
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < (options.jobs > 0 ? static_cast<unsigned>(options.jobs) : cores); ++t)
    threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return all;
}

}  // namespace gv
