#include "peer/sim/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "gossip/registry.h"
#include "optim/check.h"
#include "peer/sim/accounted_replica.h"
#include "peer/sim/faults.h"
#include "peer/sim/sim_world.h"
#include "peer/sim/workers.h"

namespace gv {
namespace {

/// Of the mean, relative to the largest coordinate: float rounding over thousands of flows stays
/// below it, one flow applied at one end only does not.
constexpr double mass_tolerance = 1e-4;

class Simulation {
 public:
  Simulation(const Assembly& fleet, Observer& observer, const SimulationOptions& options)
      : fleet_(fleet), options_(options), workers_(threads(options)) {
    const PeerId n = fleet.fleet.size();
    shared_.network = fleet.fleet.network;
    shared_.observer = &observer;
    worlds_.reserve(n);
    replicas_.resize(n);
    last_job_.assign(n, none);
    workers_.run(n, [&](std::size_t i) { replicas_[i] = make_replica(static_cast<PeerId>(i)); });
    for (PeerId i = 0; i < n; ++i) {
      worlds_.emplace_back(shared_, i, fleet.fleet.flops * fleet.fleet.peers[i].speed);
      shared_.peers.push_back(std::make_unique<Peer>(fleet.plan(i), worlds_[i], *replicas_[i]));
    }
    if (options.faults) {
      faults_.emplace(shared_, options.faults->seed, options.faults->until);
      shared_.faults = &*faults_;
    }
    for (PeerId i = 0; i < n; ++i) lives_.push_back(live(*shared_.peers[i], fleet.algorithm->run));
  }

  SimulationResult run() {
    SimulationResult result;
    if (faults_) faults_->start();
    for (Task<>& life : lives_) life.start();
    Step told = 0;
    while (!shared_.queue.empty() || !shared_.jobs.empty()) {
      while (shared_.queue.more_now()) shared_.queue.run_next();
      if (!shared_.jobs.empty()) {
        run_jobs();
        result.interrupted = result.interrupted || should_stop();
        if (result.interrupted || out_of_time() || target_reached()) stop_all();
        const Step step = shared_.peers.front()->step;
        if (options_.on_progress && step != told)
          options_.on_progress(told = step, shared_.queue.now());
        continue;
      }
      if (!shared_.queue.empty()) shared_.queue.run_next();
    }
    finish(result);
    result.virtual_time = shared_.queue.now();
    result.events = shared_.queue.events();
    return result;
  }

 private:
  std::unique_ptr<Replica> make_replica(PeerId i) const {
    std::unique_ptr<Replica> replica = fleet_.host_replica(i);
    if (options_.faults) return std::make_unique<AccountedReplica>(std::move(replica));
    return replica;
  }

  void finish(SimulationResult& result) {
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      if (lives_[i].done()) {
        lives_[i].result();
      } else if (faults_) {
        result.violations.push_back(
            fmt::format("peer {} waits for ever in round {}", i, shared_.peers[i]->step));
      } else {
        GV_CHECK(lives_[i].done(), "nothing more will happen, and a simulated peer still waits");
      }
    }
    if (!faults_) return;
    result.faults = faults_->counts();
    result.probes = faults_->probes();
    std::ranges::copy(faults_->violations(), std::back_inserter(result.violations));
    check_exchanges(result);
    check_mass(result);
  }

  /// Every exchange was settled at both ends.
  void check_exchanges(SimulationResult& result) const {
    for (const auto& peer : shared_.peers) {
      if (peer->open_exchanges() > 0)
        result.violations.push_back(
            fmt::format("peer {} ends with an open exchange", peer->plan.id));
      for (const auto& [other, exchanges] : peer->exchanges()) {
        const Step theirs = shared_.peers[other]->exchanges().at(peer->plan.id);
        if (theirs != exchanges)
          result.violations.push_back(fmt::format("peers {} and {} count {} and {} exchanges",
                                                  peer->plan.id,
                                                  other,
                                                  exchanges,
                                                  theirs));
      }
    }
  }

  /// Averaging moved nothing into the fleet and nothing out of it.
  void check_mass(SimulationResult& result) const {
    std::vector<double> sum(fleet_.dimension, 0);
    double scale = 1;
    for (const auto& replica : replicas_) {
      const auto& accounted = static_cast<const AccountedReplica&>(*replica);
      const std::vector<double> x = accounted.x();
      for (std::size_t k = 0; k < sum.size(); ++k) {
        sum[k] += x[k] - accounted.own()[k];
        scale = std::max(scale, std::abs(x[k]));
      }
    }
    for (const double s : sum)
      result.drift =
          std::max(result.drift, std::abs(s) / (scale * static_cast<double>(replicas_.size())));
    if (result.drift > mass_tolerance)
      result.violations.push_back(fmt::format("the mean has drifted by {:.3g}", result.drift));
  }

  static int threads(const SimulationOptions& options) {
    return options.threads > 0
               ? options.threads
               : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }

  /// The arithmetic of one instant, on all cores; then, in order, its end on each peer's own clock.
  void run_jobs() {
    std::vector<SimJob> jobs;
    jobs.swap(shared_.jobs);
    // Jobs of one peer run one after the other; as a rule each peer has one.
    std::vector<std::size_t> firsts;
    std::vector<std::size_t> next(jobs.size(), none);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      std::size_t& last = last_job_[jobs[i].peer];
      last == none ? firsts.push_back(i) : void(next[last] = i);
      last = i;
    }
    for (const SimJob& job : jobs) last_job_[job.peer] = none;
    workers_.run(firsts.size(), [&](std::size_t first) {
      for (std::size_t i = firsts[first]; i != none; i = next[i]) jobs[i].job();
    });
    for (SimJob& job : jobs) {
      const double seconds = job.seconds * (faults_ ? faults_->slowness(job.peer) : 1);
      const Time end =
          shared_.queue.now() + Time{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
      faults_ ? faults_->run_at(end, job.peer, std::move(job.done))
              : shared_.queue.push(end, std::move(job.done));
    }
  }

  bool should_stop() const { return options_.interrupted && options_.interrupted(); }
  bool out_of_time() const {
    return fleet_.fleet.stop.time && shared_.queue.now() >= *fleet_.fleet.stop.time;
  }
  bool target_reached() const {
    const auto& record = shared_.observer->latest();
    return fleet_.fleet.stop.accuracy && record && record->mean.accuracy &&
           *record->mean.accuracy >= *fleet_.fleet.stop.accuracy;
  }
  void stop_all() {
    for (const auto& peer : shared_.peers) peer->stop();
  }

  const Assembly& fleet_;
  const SimulationOptions& options_;
  Workers workers_;
  SimShared shared_;
  std::vector<SimWorld> worlds_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last_job_;  ///< of each peer, while the jobs of an instant are sorted
  std::vector<Task<>> lives_;
  std::optional<Faults> faults_;
};

}  // namespace

SimulationResult simulate(const Assembly& fleet,
                          Observer& observer,
                          const SimulationOptions& options) {
  return Simulation(fleet, observer, options).run();
}

}  // namespace gv
