#include "peer/sim/trial.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "peer/runtime/peer_plan.h"

namespace gv {
namespace {

/// Maximum time after the last fault in which no peer finishes a round. Peers that repeat the same
/// messages are busy but make no progress.
constexpr Time longest_standstill = std::chrono::hours(1);
/// Maximum in units of the longest job, because slow peers have long rounds.
constexpr int longest_standstill_in_works = 1000;

/// Returns the maximum delay of a frame from being ready to its arrival after others.
Time slowest_way(const Assembly& fleet) {
  const NetworkSpec& network = fleet.fleet.network;
  Time longest = network.latency + network.jitter;
  double slowest = network.bandwidth;
  const auto look = [&](double bandwidth) {
    if (bandwidth > 0) slowest = slowest > 0 ? std::min(slowest, bandwidth) : bandwidth;
  };
  for (const auto& [ends, link] : network.links) {
    longest = std::max(longest, link.latency + link.jitter);
    look(link.bandwidth);
  }
  for (const auto& [peer, bandwidth] : network.cards) look(bandwidth);
  if (slowest == 0) return longest;
  const std::size_t bytes =
      exchange_bytes(fleet.traffic(), fleet.dimension) * (fleet.fleet.size() - 1);
  return longest + Time{static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / slowest)};
}

LinkSettings settings_of(const Peer& peer, Life life, const LinkTimes& times) {
  LinkSettings settings = link_settings(peer.plan, peer.replica.size(), 0);
  settings.self.incarnation = life.number + 1;
  settings.times = times;
  settings.times.patience = peer.plan.patience;
  settings.rejoin = life.number > 0;
  return settings;
}

/// Returns the limit of unacknowledged bytes: one exchange per neighbour and the last messages. For
/// a method with its own channels: what links keep and send until a neighbour is given up.
std::uint64_t most_kept_bytes(const Peer& peer) {
  const std::size_t d = peer.replica.size();
  if (!peer.plan.channels.empty())
    return 3 * links_of(peer.plan).size() *
           link_settings(peer.plan, d, 0).most_unacknowledged_bytes;
  const std::size_t model = d * sizeof(float);
  return (2 * peer.neighbors.size() + 3) * std::max(model, exchange_bytes(peer.plan.traffic, d));
}

/// Returns whether two peers can exchange. With a schedule, they must be in the same round. A peer
/// that lags by a few rounds may keep lagging: a single neighbour's clock is believed slowly
/// (ClockBound), and Pace::catch_up tolerates a lag up to the fleet's size.
bool may_meet(const Peer& a, const Peer& b) {
  const Round behind = std::max(a.clock(), b.clock()) - std::min(a.clock(), b.clock());
  return !a.plan.schedule || behind <= 1;
}

/// Tolerance for a vector, relative to its largest coordinate ever: float rounding stays below it,
/// but a single flow missing from the ledger does not.
constexpr double drift_tolerance = 1e-4;
/// Maximum rounding of one more flow: half the distance between two floats near 1.
constexpr double rounding_of_a_flow = 6e-8;

std::string vector_of(PeerId peer) {
  return fmt::format("the vector of peer {}", peer);
}

}  // namespace

LinkTimes swarm_times(const Assembly& fleet) {
  constexpr Time quick = std::chrono::milliseconds(1);
  LinkTimes times = swarm_times();
  const double slower = in_seconds(std::max(quick, slowest_way(fleet))) / in_seconds(quick);
  for (Time* time :
       {&times.heartbeat, &times.dead_after, &times.reconnect_within, &times.first_redial,
        &times.slowest_redial, &times.handshake, &times.join_within})
    *time = Time{static_cast<std::int64_t>(slower * static_cast<double>(time->count()))};
  times.connect += times.dead_after;
  times.farewell += times.dead_after;
  return times;
}

LinkTimes swarm_times() {
  using std::chrono::milliseconds;
  LinkTimes times;
  times.heartbeat = milliseconds(8);
  times.dead_after = milliseconds(40);
  times.reconnect_within = milliseconds(20);
  times.first_redial = milliseconds(1);
  times.slowest_redial = milliseconds(15);
  times.handshake = times.dead_after;
  times.join_within = milliseconds(10);
  times.connect = std::chrono::seconds(5);
  times.farewell = std::chrono::seconds(20);
  return times;
}

Trial::Trial(const FaultPlan& plan, const LinkParts& parts, SimShared& shared, Begin begin)
    : plan_(plan),
      shared_(shared),
      begin_(std::move(begin)),
      injector_(plan.seed, plan.until, plan.trace, plan.drawn, plan.classes),
      faults_(shared,
              injector_,
              {.die = [this](PeerId i) { die(i); },
               .rise = [this](PeerId i) { rise(i); },
               .leap = [this](PeerId i, Round to) { check_leap(i, to); },
               .give_up = [this](PeerId i, PeerId j) { note_given_up(i, j); },
               .poison = [this](PeerId i) { return poison(i); },
               .lie = [this](PeerId i) { return lie(i); },
               .fill_disk =
                   [this](PeerId i) {
                     if (works(i)) stores_[i].fill(1 + static_cast<int>(injector_.below(4)));
                     return works(i);
                   },
               .tear =
                   [this](PeerId i) {
                     if (works(i)) stores_[i].tear();
                     return works(i);
                   }},
              parts,
              plan.times.dead_after),
      got_on_at_(plan.until),
      present_(shared.peers.size()) {
  shared_.faults = &faults_;
  shared_.audit = &audit_;
  shared_.on_store = [this](PeerId i, Round round, std::vector<std::byte> state) {
    keep(i, round, std::move(state));
  };
  for (PeerId i = 0; i < shared.peers.size(); ++i) stores_.emplace_back(i);
}

void Trial::start() {
  faults_.network().start();
  plan_.drawn ? faults_.start(plan_.succeed) : faults_.inject(plan_.inject, plan_.restart);
  const std::vector<Accident> accidents = this->accidents();
  begin_to_judge_pace(accidents);
  faults_.suffer(accidents);
  for (const Time at : plan_.looks) shared_.queue.push_idle(at, [this] { look(); });
}

/// Returns the plan's accidents, or random ones in the first half of the run. The second half shows
/// whether the fleet recovers.
std::vector<Accident> Trial::accidents() {
  const bool drawn = injector_.rate(Fault::accident) > 0 && plan_.usual != nullptr;
  if (!drawn || faults_.network().empty()) return plan_.accidents;
  return overlapping_accidents(
      Rng(plan_.seed).derive("overlapping accidents"),
      {.peers = static_cast<PeerId>(shared_.peers.size()),
       .links = [this](PeerId i) { return links_of(shared_.peers[i]->plan); },
       .from = plan_.usual->length / 20,
       .until = plan_.usual->length / 2,
       .least = plan_.times.dead_after / 4,
       .kills = plan_.succeed});
}

/// Random faults last up to two and a half times LinkTimes::dead_after.
void Trial::begin_to_judge_pace(const std::vector<Accident>& accidents) {
  if (plan_.usual == nullptr) return;
  Time calm =
      plan_.drawn && accidents.empty() ? plan_.until + plan_.times.dead_after * 5 / 2 : Time{0};
  for (const Injection& each : plan_.inject) calm = std::max(calm, each.at + each.length);
  for (const Accident& accident : accidents)
    calm = std::max(calm, accident.at + accident.length + plan_.times.dead_after);
  steadiness_.emplace(*plan_.usual, calm);
  shared_.steadiness = &*steadiness_;
  shared_.together = [this](PeerId a, PeerId b) {
    if (present(a).liar || present(b).liar || !deadline_leaves_time()) return false;
    const Peer& one = *present(a).peer;
    const Peer& other = *present(b).peer;
    return one.here(b) && other.here(a) && may_meet(one, other);
  };
}

/// A fault may have made a peer slower than the deadline allows, for the rest of the run.
bool Trial::deadline_leaves_time() {
  double slowest = 1;
  for (const Record& record : records_)
    slowest = std::max(slowest, faults_.processes().slowness(record.life.peer));
  return slowest * in_seconds(plan_.usual->round) < in_seconds(plan_.usual->longest_round);
}

/// A neighbour that makes no progress for this time is given up, and an exchange may then count at
/// one end only: docs/how-to/when-things-go-wrong.md.
void Trial::note_given_up(PeerId by, PeerId peer) {
  constexpr Time least = std::chrono::seconds(10);
  const bool stood = steadiness_ && shared_.queue.now() - steadiness_->last_round(peer) >= least;
  if (stood) given_up_.insert(std::minmax(by, peer));
}

void Trial::look() {
  std::vector<Round> rounds;
  for (const Peer* peer : shared_.peers) rounds.push_back(peer->round);
  rounds_seen_.push_back(std::move(rounds));
}

void Trial::born(Life life, Peer& peer, Task<>& task) {
  present_[life.peer] = records_.size();
  records_.push_back({life, &peer, &task});
  faults_.network().born(life, settings_of(peer, life, plan_.times), peer,
                         [this, record = records_.size() - 1] { begin(record); });
}

void Trial::begin(std::size_t record) {
  records_[record].started = true;
  faults_.processes().run_at(shared_.queue.now(), records_[record].life.peer,
                             [task = records_[record].task] { task->start(); });
}

bool Trial::over() {
  if (steadiness_ && steadiness_->ran_ahead()) return true;
  if (!lied_) return stuck();
  if (looks_++ % 16 == 0) check_memory();
  return stuck() || honest_have_ended();
}

bool Trial::stuck() {
  const LinkTimes& times = plan_.times;
  const Time longest = times.connect + times.farewell + times.dead_after;
  const Time now = shared_.queue.now();
  return now - shared_.queue.idle_since() > longest || (plan_.drawn && stands_still(now));
}

/// Compares the rounds when the longest standstill may be over, and not before.
bool Trial::stands_still(Time now) {
  const Time longest =
      std::max(longest_standstill, longest_standstill_in_works * shared_.longest_work);
  if (now - got_on_at_ <= longest) return false;
  Round rounds = 0;
  for (const Record& record : records_)
    rounds += record.peer->round + (record.task->done() ? 1 : 0);
  if (rounds == rounds_) return true;
  rounds_ = rounds;
  got_on_at_ = now;
  return false;
}

void Trial::die(PeerId peer) {
  deserted_ = true;
  present(peer).dead = true;
  stores_[peer].lose_power(injector_);
  if (!plan_.drawn) shared_.observer->forget(peer);
}

void Trial::rise(PeerId peer) {
  // Sometimes the disk is lost, too.
  std::optional<Checkpoint> past = stores_[peer].load(violations_);
  if (plan_.drawn && injector_.below(3) == 0) past.reset();
  if (!plan_.drawn) shared_.observer->expect(peer);
  shared_.earlier[peer] += std::exchange(shared_.told[peer], {});
  if (past) injector_.count(Probe::restored);
  shared_.peers[peer] = begin_({peer, faults_.processes().life(peer)}, past);
}

bool Trial::works(PeerId peer) {
  const Record& record = present(peer);
  return !record.dead && record.started && !record.task->done();
}

void Trial::keep(PeerId peer, Round round, std::vector<std::byte> state) {
  switch (stores_[peer].save(round, std::move(state), injector_)) {
    case SimCheckpointStore::Saved::yes:
      return;
    case SimCheckpointStore::Saved::no:
      return injector_.count(Probe::unsaved);
    case SimCheckpointStore::Saved::torn:
      shared_.queue.push(shared_.queue.now(), [this, peer] { faults_.crash(peer); });
  }
}

bool Trial::poison(PeerId peer) {
  if (!works(peer)) return false;
  Record& record = present(peer);
  record.poisoned = deserted_ = true;
  static_cast<AccountedReplica&>(record.peer->replica).poison();
  return true;
}

/// At most one per fleet, because two liars that agree are believed.
bool Trial::lie(PeerId peer) {
  if (lied_ || !works(peer)) return false;
  // A peer that waits for live neighbours without limit also waits for a liar.
  if (present(peer).peer->plan.deadline == Time{0}) return false;
  lied_ = present(peer).liar = true;
  // A peer does not wait for a liar that claims a later round, and may be faster than usual.
  if (steadiness_) steadiness_->stop_judging_pace();
  audit_.distrust(present(peer).life);
  return true;
}

bool Trial::honest_have_ended() {
  return std::ranges::all_of(records_, [this](const Record& record) {
    if (record.dead || record.liar) return true;
    return record.started && record.task->done() && !faults_.network().lingers(record.life.peer);
  });
}

/// A single liar cannot send a peer ahead of the fleet. But it may be a peer's only neighbour, for
/// example after another one died or quarantined the peer; then the peer has no other information.
void Trial::check_leap(PeerId peer, Round to) {
  if (!lied_ || deserted_ || present(peer).liar) return;
  if (present(peer).peer->neighbors.size() == 1) return;
  Round furthest = 0;
  for (PeerId i = 0; i < present_.size(); ++i)
    if (i != peer)
      furthest = std::max(
          {furthest, present(i).peer->round, present(i).liar ? 0 : present(i).peer->clock()});
  if (to > furthest + present_.size())
    violations_.push_back(
        fmt::format("peer {} leaps to round {}, and no peer is beyond {}", peer, to, furthest));
}

void Trial::check_memory() {
  for (PeerId i = 0; i < present_.size(); ++i) {
    const Record& record = present(i);
    if (record.dead || record.liar || !record.started) continue;
    const std::uint64_t most = most_kept_bytes(*record.peer);
    const std::uint64_t kept = faults_.network().unacknowledged_bytes(i);
    if (kept > most)
      violations_.push_back(fmt::format(
          "peer {} keeps {} bytes that are not acknowledged, at most {}", i, kept, most));
  }
}

// The judgement on a fleet after its last event.

void Trial::judge(SimulationResult& result) {
  if (!plan_.drawn) forget_missing();
  if (steadiness_) std::ranges::move(steadiness_->violations(), std::back_inserter(violations_));
  // A peer that runs ahead ends the trial at once, so nothing else can be judged.
  if (!steadiness_ || !steadiness_->ran_ahead()) check_ends(result);
  for (PeerId i = 0; i < present_.size(); ++i)
    if (present(i).dead || !present(i).started) result.lost.push_back(i);
  result.violations = std::move(violations_);
  result.looks = std::move(rounds_seen_);
  result.faults = injector_.faults();
  result.probes = injector_.probes();
  result.trace_hash = injector_.hash();
}

void Trial::check_ends(SimulationResult& result) {
  for (const Record& record : records_) {
    if (record.dead || record.liar) continue;
    check_end(record);
    if (!record.task->done()) continue;
    check_exchanges(record);
    const bool booked = plan_.judgement != Judgement::sum && plan_.judgement != Judgement::ends;
    if (booked && !may_be_poisoned(record)) result.drift = std::max(result.drift, drift(record));
  }
  if (plan_.judgement == Judgement::sum) result.drift = drift_of_sum();
  audit_.close([this](Life life) { return gone(life); },
               [this](Life a, Life b) { return excused(a.peer, b.peer); });
  std::ranges::copy(audit_.violations(), std::back_inserter(violations_));
}

/// Forgets peers that never began or wait for ever, because they report nothing more.
void Trial::forget_missing() {
  for (PeerId i = 0; i < present_.size(); ++i)
    if (const Record& record = present(i); !record.dead && !(record.started && record.task->done()))
      shared_.observer->forget(i);
}

/// Averaging keeps out values that are not finite. A sum over all peers spreads them everywhere,
/// and a gradient within its chain.
bool Trial::may_be_poisoned(const Record& record) const {
  const bool averages = !record.peer->exchanges().empty();
  const std::optional<PeerId>& model = record.peer->plan.holds.model;
  return std::ranges::any_of(records_, [&](const Record& other) {
    const bool one_chain = model && other.peer->plan.holds.model == model;
    if (one_chain && other.liar) return true;
    return other.poisoned && (!averages || one_chain || &other == &record);
  });
}

bool Trial::gone(Life life) const {
  const auto record = std::ranges::find(records_, life, &Record::life);
  return record == records_.end() || record->dead;
}

/// Returns whether no peer is left that it could have met.
bool Trial::alone(const Record& record) {
  return std::ranges::all_of(links_of(record.peer->plan), [this](PeerId other) {
    const Record& theirs = present(other);
    return theirs.dead || theirs.liar || !theirs.started || theirs.task->done();
  });
}

/// Returns whether the process of `other` that this peer met is a liar; a successor is a different
/// process.
bool Trial::met_a_liar(PeerId id, PeerId other) {
  const std::optional<std::uint64_t> met = faults_.network().life_of_neighbor(id, other);
  return std::ranges::any_of(records_, [&](const Record& record) {
    return record.life.peer == other && record.life.number == met && record.liar;
  });
}

void Trial::check_end(const Record& record) {
  const auto [id, number] = record.life;
  if (!record.started && !alone(record))
    violations_.push_back(fmt::format("peer {} (life {}) found no neighbour", id, number));
  if (!record.started) return;
  if (!record.task->done()) {
    violations_.push_back(fmt::format("peer {} (life {}) waits for ever in round {}", id, number,
                                      record.peer->round));
    return;
  }
  record.task->result();
  if (faults_.network().lingers(id))
    violations_.push_back(fmt::format("peer {} (life {}) never ends", id, number));
  for (const PeerId other : links_of(record.peer->plan))
    if (faults_.network().given_up(id, other) && !met_a_liar(id, other))
      violations_.push_back(
          fmt::format("peer {} has given up peer {}, which is honest", id, other));
}

/// Checks that every exchange with a surviving neighbour was settled at both ends.
void Trial::check_exchanges(const Record& record) {
  const PeerId id = record.life.peer;
  SimNetwork& network = faults_.network();
  for (const auto& [other, exchanges] : record.peer->exchanges()) {
    const Record& theirs = present(other);
    const bool acquainted = network.life_of_neighbor(id, other) == theirs.life.number &&
                            network.life_of_neighbor(other, id) == record.life.number;
    if (theirs.dead || theirs.liar || !theirs.started || !acquainted) continue;
    if (excused(id, other)) continue;
    if (record.peer->exchanging(other))
      violations_.push_back(fmt::format("peer {} ends with an open exchange with {}", id, other));
    const ExchangeNumber count = theirs.peer->exchanges().at(id);
    if (count != exchanges)
      violations_.push_back(fmt::format("peers {} and {} count {} and {} exchanges", id, other,
                                        exchanges.value, count.value));
  }
}

double Trial::drift(const Record& record) {
  const std::vector<double> x = record.replica().x();
  if (plan_.judgement == Judgement::finite) {
    const bool finite = std::ranges::all_of(x, [](double each) { return std::isfinite(each); });
    return finite ? 0 : judge_drift(std::nan(""), vector_of(record.life.peer), drift_tolerance);
  }
  const std::vector<double>& own = record.replica().own();
  std::vector<double> flows = audit_.flows(record.life);
  flows.resize(x.size());
  for (double& flow : flows) flow /= record.peer->plan.share;
  const double scale = std::max(1.0, record.replica().largest());
  double worst = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double off = std::abs(x[k] - own[k] - flows[k]);
    worst = std::isfinite(off) ? std::max(worst, off) : off;
    if (!std::isfinite(off)) break;
  }
  double flowed = 0;
  for (const auto& [other, exchanges] : record.peer->exchanges())
    flowed += static_cast<double>(exchanges.value);
  return judge_drift(worst / scale, vector_of(record.life.peer),
                     drift_tolerance + rounding_of_a_flow * flowed);
}

/// Returns 0 if a peer died with its part of a flow, or lied and applied arbitrary flows.
double Trial::drift_of_sum() {
  double scale = 1;
  std::map<std::size_t, std::vector<double>> sums;  // by stage of the chains, or for whole models
  for (const Record& record : records_) {
    if (record.dead || record.liar || record.poisoned || !record.task->done()) return 0;
    const std::vector<double> x = record.replica().x();
    std::vector<double>& sum = sums[record.peer->plan.holds.begin];
    sum.resize(x.size());
    scale = std::max(scale, record.replica().largest());
    for (std::size_t k = 0; k < x.size(); ++k) sum[k] += x[k] - record.replica().own()[k];
  }
  double worst = 0;
  for (const auto& [begin, sum] : sums)
    for (const double off : sum) worst = std::isfinite(off) ? std::max(worst, std::abs(off)) : off;
  return judge_drift(worst / scale, "the sum of all vectors", drift_tolerance);
}

double Trial::judge_drift(double drift, const std::string& of, double most) {
  if (!(drift < most)) violations_.push_back(fmt::format("{} has drifted by {:.3g}", of, drift));
  return drift;
}

}  // namespace gv
