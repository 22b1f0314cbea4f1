#include "peer/sim/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <thread>
#include <utility>

#include "gossip/registry.h"
#include "optim/check.h"
#include "peer/sim/sim_world.h"
#include "peer/sim/workers.h"

namespace gv {
namespace {

class Simulation {
 public:
  Simulation(const Assembly& fleet, Observer& observer, const SimulationOptions& options)
      : fleet_(fleet), options_(options), workers_(threads(options)) {
    const PeerId n = fleet.fleet.size();
    shared_.network = fleet.fleet.network;
    shared_.observer = &observer;
    worlds_.reserve(n);
    replicas_.resize(n);
    workers_.run(n,
                 [&](std::size_t i) { replicas_[i] = fleet.host_replica(static_cast<PeerId>(i)); });
    for (PeerId i = 0; i < n; ++i) {
      worlds_.emplace_back(shared_, i, fleet.fleet.flops * fleet.fleet.peers[i].speed);
      shared_.peers.push_back(std::make_unique<Peer>(fleet.plan(i), worlds_[i], *replicas_[i]));
    }
    for (PeerId i = 0; i < n; ++i) lives_.push_back(live(*shared_.peers[i], fleet.algorithm->run));
  }

  SimulationResult run() {
    SimulationResult result;
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
    for (Task<>& life : lives_) {
      GV_CHECK(life.done(), "nothing more will happen, and a simulated peer still waits");
      life.result();
    }
    result.virtual_time = shared_.queue.now();
    result.events = shared_.queue.events();
    return result;
  }

 private:
  static int threads(const SimulationOptions& options) {
    return options.threads > 0
               ? options.threads
               : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }

  /// The arithmetic of one instant, on all cores; then, in order, its end on each peer's own clock.
  void run_jobs() {
    std::vector<SimJob> jobs;
    jobs.swap(shared_.jobs);
    workers_.run(jobs.size(), [&](std::size_t i) { jobs[i].job(); });
    for (SimJob& job : jobs) {
      const Time cost{static_cast<std::int64_t>(std::llround(job.seconds * 1e9))};
      shared_.queue.push(shared_.queue.now() + cost, std::move(job.done));
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
  std::vector<Task<>> lives_;
};

}  // namespace

SimulationResult simulate(const Assembly& fleet,
                          Observer& observer,
                          const SimulationOptions& options) {
  return Simulation(fleet, observer, options).run();
}

}  // namespace gv
