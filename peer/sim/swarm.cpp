#include "peer/sim/swarm.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>

namespace gv {
namespace {

SimulationResult run_seed(const Assembly& fleet, std::uint64_t seed, const SwarmOptions& all) {
  Observer observer(fleet.fleet.size(), fleet.evaluator(), {});
  SimulationOptions options;
  options.threads = 1;
  options.links = all.links;
  options.faults = FaultPlan{seed, all.until, all.trace};
  options.parts = all.parts;
  return simulate(fleet, observer, options);
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
  std::mutex mutex;
  std::atomic<std::uint64_t> next = options.first;
  const auto work = [&] {
    for (std::uint64_t seed = next++; seed <= options.last; seed = next++) {
      if (options.interrupted && options.interrupted()) return;
      const SimulationResult one = run_seed(fleet, seed, options);
      const std::lock_guard lock(mutex);
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
