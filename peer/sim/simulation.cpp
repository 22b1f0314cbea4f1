#include "peer/sim/simulation.h"

#include <algorithm>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "gossip/seam/costs.h"
#include "gossip/seam/journal.h"
#include "optim/check.h"
#include "optim/machine/workers.h"
#include "optim/state.h"
#include "peer/sim/trial.h"
#include "peer/sim/world/sim_world.h"

namespace gv {
namespace {

/// The journal of one life of a simulated peer, for the observer, its disk, the audit and the
/// trace.
class SimJournal : public Journal {
 public:
  SimJournal(SimShared& shared, PeerId id, std::uint64_t life)
      : shared_(shared), id_(id), life_(life) {
    if (shared.on_life) recorder_ = std::make_unique<Recorder>(id, shared.record);
  }

  void publish(Report report) override;
  void store(Round round, std::vector<std::byte> state) override;
  void settled(const Settlement& settlement) override;
  void note(const PeerEvent& event) override;
  bool wants_intervals(Round rounds) const override {
    return recorder_ && recorder_->wants_intervals(rounds);
  }
  void life_begun(Round rounds, Time now) override {
    if (recorder_) recorder_->life_begun(rounds, now);
  }
  void round_done(RoundDone round) override;
  void life_done(const LifeDone& life) override;

 private:
  void tell(Report report);

  SimShared& shared_;
  PeerId id_;
  std::uint64_t life_;
  std::unique_ptr<Recorder> recorder_;  ///< null if not needed
};

void SimJournal::publish(Report report) {
  if (shared_.rows == nullptr) return tell(std::move(report));
  auto kept = std::make_unique<Report>(std::move(report));
  shared_.rows->outside(id_, [this, kept = std::move(kept)] { tell(std::move(*kept)); });
}

void SimJournal::tell(Report report) {
  // An evaluation by time waits for running work, and shows the state before it.
  const bool ticks = report.tick > 0 && !report.last;
  const Time now = ticks ? report.due : shared_.before + shared_.queue.now();
  if (report.broken_by)
    (shared_.does_without_chains ? shared_.chains_ended : shared_.broken_by)
        .insert(*report.broken_by);
  if (report.left_by) shared_.left_by[id_] = *report.left_by;
  if (report.last) {
    shared_.finished[id_] = true;
    shared_.ended = now;
  }
  const bool last = report.last;
  shared_.told.at(id_) = report.costs;
  report.costs += shared_.earlier.at(id_);
  shared_.observer->take(std::move(report), now);
  if (last && shared_.faults != nullptr) shared_.faults->network().end(id_);
}

void SimJournal::store(Round round, std::vector<std::byte> state) {
  if (shared_.on_store) shared_.on_store(id_, round, std::move(state));
}

void SimJournal::round_done(RoundDone round) {
  if (shared_.steadiness != nullptr)
    shared_.steadiness->ended({id_, life_}, round.now,
                              shared_.faults != nullptr ? shared_.queue.now() : round.now,
                              shared_.together);
  if (recorder_) recorder_->round_done(std::move(round));
}

void SimJournal::life_done(const LifeDone& life) {
  if (!recorder_) return;
  recorder_->life_done(life);
  shared_.on_life(*recorder_, life_);
}

void SimJournal::settled(const Settlement& settlement) {
  if (recorder_) recorder_->settled(settlement);
  if (shared_.steadiness != nullptr) shared_.steadiness->flowed(id_, settlement.with);
  if (shared_.audit == nullptr) return;
  const auto with = shared_.faults->network().life_of_neighbor(id_, settlement.with);
  const Peer& self = *shared_.peers[id_];
  shared_.audit->settled({id_, life_}, {settlement.with, with.value()}, settlement,
                         self.plan.traffic, self.replica.size());
}

void SimJournal::note(const PeerEvent& event) {
  if (shared_.faults != nullptr) shared_.faults->heard(id_, event);
}

/// Returns the sum of a peer's recorded time, which is its clock.
Time clock_of(const Costs& costs) {
  return costs.spent.total();
}

/// Removes faults before the checkpoint, which have already happened.
FaultPlan without_past(FaultPlan plan, Time before) {
  std::erase_if(plan.inject, [before](const Injection& i) { return i.at < before; });
  for (Injection& injection : plan.inject) injection.at -= before;
  return plan;
}

class Simulation {
 public:
  Simulation(const Assembly& fleet, Observer& observer, const SimulationOptions& options)
      : fleet_(fleet), options_(options), workers_(threads(options)) {
    const PeerId n = fleet.fleet.size();
    shared_.network = options.network.value_or(fleet.fleet.network);
    shared_.seed = fleet.fleet.seed;
    shared_.does_without_chains = fleet.does_without_chains();
    shared_.bounds = frame_bounds(fleet);
    shared_.observer = &observer;
    observer.aim_at(fleet.aims());
    observer.recall(options.recalled);
    shared_.finished.assign(n, false);
    shared_.backlogs.resize(n);
    shared_.work.resize(n);
    shared_.on_life = options.on_life;
    shared_.steadiness = options.steadiness;
    costs_.resize(n);
    for (const Checkpoint& past : options.resume) costs_.at(past.peer) = costs_at_end(past.state);
    shared_.earlier = costs_;
    shared_.told.resize(n);
    shared_.before = std::ranges::min(costs_, {}, clock_of).spent.total();
    const RecordSpec& record = fleet.fleet.record;
    shared_.record = record_limits(n, record.rows, record.moments);
    last_job_.assign(n, none);
    std::vector<std::unique_ptr<Replica>> replicas(n);
    workers_.run(n, [&](std::size_t i) { replicas[i] = make_replica(static_cast<PeerId>(i)); });
    for (PeerId i = 0; i < n; ++i)
      shared_.peers.push_back(begin_life(i, 0, plan(i), std::move(replicas[i])));
    if (options.keep > 0)
      for (Peer* peer : shared_.peers) peer->keep_checkpoint(options.keep);
    shared_.on_store = options.on_store;
    shared_.after_job = options.after_job;
    for (const Checkpoint& past : options.resume) {
      restore(*lives_.at(past.peer).replica, past);
      shared_.peers.at(past.peer)->go_on_from(past.round, costs_[past.peer]);
    }
    if (!options.faults) {
      rows_.emplace(shared_.queue, shared_.peers, workers_, threads(options));
      shared_.rows = &*rows_;
      return;
    }
    faults_ = without_past(*options.faults, shared_.before);
    trial_.emplace(
        *faults_, options.links, shared_,
        [this](Life life, const std::optional<Checkpoint>& past) { return succeed(life, past); });
    for (PeerId i = 0; i < n; ++i) trial_->born({i, 0}, *lives_[i].body.peer, lives_[i].task);
  }

  SimulationResult run() {
    SimulationResult result;
    if (trial_) trial_->start();
    for (PeerId i = 0; i < shared_.peers.size() && !trial_; ++i)
      shared_.queue.push(clock_of(costs_[i]) - shared_.before, i,
                         [&task = lives_[i].task] { task.start(); });
    Round told = 0;
    if (options_.between) options_.between(shared_.peers);
    while (!shared_.queue.empty() || worked()) {
      while (shared_.queue.more_now()) run_next();
      if (worked()) {
        rows_ ? rows_->end_work() : run_jobs();
        result.interrupted = result.interrupted || should_stop();
        if (result.interrupted || out_of_time() || shared_.observer->over()) stop_all();
        if (options_.between) options_.between(shared_.peers);
        const Round round = shared_.peers.front()->round;
        if (options_.on_progress && round != told) options_.on_progress(told = round, now());
        continue;
      }
      if (trial_ && trial_->over()) break;
      if (trial_ && abandoned()) return abandoned_result();
      if (!shared_.queue.empty()) run_next();
    }
    finish(result);
    return result;
  }

 private:
  /// Kept to the end, even after death, because running jobs may use it.
  struct OneLife {
    std::unique_ptr<Replica> replica;
    SimWorld world;
    SimJournal journal;
    PeerBody body;
    Task<> task;
  };

  Plan plan(PeerId i) const {
    Plan plan = fleet_.plan(i);
    plan.clock_at_birth = costs_[i].training_time();
    // Without faults all peers make progress, however long a round takes.
    if (!options_.faults) plan.standstill = Time{0};
    if (options_.until > 0) plan.rounds = std::min(plan.rounds, options_.until);
    if (options_.rounds == 0) return plan;
    plan.rounds = options_.rounds;
    plan.evaluate_every = plan.checkpoint_every = 0;
    plan.evaluate_period = Time{0};
    return plan;
  }

  std::unique_ptr<Replica> make_replica(PeerId i) const {
    if (options_.replica) return options_.replica(i);
    std::unique_ptr<Replica> replica = choose_replica(fleet_.host_replica(i), options_.parts);
    if (options_.faults) return std::make_unique<AccountedReplica>(std::move(replica));
    return replica;
  }

  Peer* begin_life(PeerId i, std::uint64_t number, Plan plan, std::unique_ptr<Replica> replica) {
    shared_.work[i] = {};
    const double speed = fleet_.fleet.flops * fleet_.fleet.peers[i].speed;
    OneLife& life = lives_.emplace_back(OneLife{std::move(replica),
                                                SimWorld(shared_, i, number, speed),
                                                SimJournal(shared_, i, number),
                                                {},
                                                {}});
    life.body = make_peer(std::move(plan), life.world, life.journal, *life.replica, options_.parts);
    life.task = live(*life.body.peer, fleet_.work_of(i));
    if (trial_) trial_->born({i, number}, *life.body.peer, life.task);
    return life.body.peer.get();
  }

  /// Starts a successor of a dead peer from its checkpoint or a neighbour's model.
  Peer* succeed(Life life, const std::optional<Checkpoint>& past) {
    std::unique_ptr<Replica> replica = make_replica(life.peer);
    Plan plan = fleet_.plan(life.peer);
    plan.rejoins = true;
    plan.fetch = !past;
    plan.clock_at_birth = now();
    if (past) restore(*replica, *past);
    Peer* peer = begin_life(life.peer, life.number, plan, std::move(replica));
    if (past) peer->go_on_from(past->round, costs_at_end(past->state));
    return peer;
  }

  static void restore(Replica& replica, const Checkpoint& past) {
    StateReader state(before_costs(past.state));
    replica.restore(state);
  }

  void finish(SimulationResult& result) {
    result.virtual_time = shared_.ended;
    result.events = shared_.queue.events();
    result.broken_by = shared_.broken_by;
    result.left_by = shared_.left_by;
    result.chains_ended = shared_.chains_ended;
    if (trial_) return trial_->judge(result);
    for (OneLife& life : lives_) {
      GV_CHECK(life.task.done(), "nothing more will happen, and a simulated peer still waits");
      life.task.result();
    }
  }

  static int threads(const SimulationOptions& options) {
    return options.threads > 0 ? options.threads : static_cast<int>(usable_cores().count());
  }

  void run_next() { rows_ ? rows_->run_next() : shared_.queue.run_next(); }
  bool worked() const { return rows_ ? rows_->worked() : !shared_.jobs.empty(); }

  /// Runs, with faults, the arithmetic of an instant on all cores; its ends follow in order, on
  /// each peer's own clock.
  void run_jobs() {
    std::vector<SimJob> jobs;
    jobs.swap(shared_.jobs);
    // Jobs of one peer run one after the other; usually each peer has one.
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
    for (SimJob& job : jobs)
      trial_->faults().processes().run_at(job.end, job.peer, job.life, std::move(job.done));
  }

  /// Returns the time since the run began, including earlier parts.
  Time now() const { return shared_.before + shared_.queue.now(); }
  SimulationResult abandoned_result() const {
    SimulationResult result;
    result.events = shared_.queue.events();
    result.abandoned = true;
    return result;
  }
  bool abandoned() {
    constexpr std::uint64_t between = 256;
    return options_.abandon && ++turns_ % between == 0 && options_.abandon(shared_.queue.events());
  }
  bool should_stop() const { return options_.interrupted && options_.interrupted(); }
  bool out_of_time() const { return fleet_.fleet.stop.time && now() >= *fleet_.fleet.stop.time; }
  void stop_all() {
    for (Peer* peer : shared_.peers) peer->stop();
  }

  const Assembly& fleet_;
  const SimulationOptions& options_;
  Workers workers_;
  SimShared shared_;
  std::deque<OneLife> lives_;  ///< the first life of each peer, then successors
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last_job_;  ///< by peer, while an instant's jobs are sorted
  std::vector<Costs> costs_;           ///< by peer, before its first round here
  std::optional<FaultPlan> faults_;    ///< faults to come
  std::optional<Trial> trial_;
  std::optional<Rows> rows_;  ///< without a trial
  std::uint64_t turns_ = 0;   ///< only with a trial: turns of the loop
};

}  // namespace

SimulationResult simulate(const Assembly& fleet,
                          Observer& observer,
                          const SimulationOptions& options) {
  return Simulation(fleet, observer, options).run();
}

}  // namespace gv
