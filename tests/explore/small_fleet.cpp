#include "tests/explore/small_fleet.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "optim/models/objective.h"
#include "optim/replica/host_replica.h"
#include "tests/explore/inspect.h"

namespace gv::explore {
namespace {

using Kind = Action::Kind;

std::vector<std::vector<PeerId>> neighbors_of(const Shape& shape) {
  std::vector<std::set<PeerId>> sets(shape.peers);
  const auto join = [&](PeerId a, PeerId b) {
    if (a == b) return;
    sets[a].insert(b);
    sets[b].insert(a);
  };
  const PeerId n = shape.peers;
  for (PeerId i = 0; i < n; ++i) {
    if (shape.topology == "path" && i + 1 < n) join(i, i + 1);
    if (shape.topology == "ring") join(i, (i + 1) % n);
    if (shape.topology == "star") join(0, i);
    if (shape.topology == "complete")
      for (PeerId j = 0; j < i; ++j) join(i, j);
  }
  std::vector<std::vector<PeerId>> lists;
  for (const std::set<PeerId>& set : sets) lists.emplace_back(set.begin(), set.end());
  return lists;
}

/// A world that holds a peer's pending gradient.
struct Computing : World {
  std::function<void()> computing;
};

/// Waits until the explorer chooses to end the gradient.
Task<> compute(Peer& me) {
  Suspend suspend{static_cast<Computing&>(me.world).computing};
  co_await suspend;
}

Task<> rounds_lian(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.share();
    co_await compute(me);
    co_await me.mix();
  }
}

Task<> rounds_atc(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await compute(me);
    co_await me.average();
  }
}

constexpr Time rest_at_first = usual_deadline / 10;

/// Flows that one end of an edge has applied.
struct Book {
  std::vector<Round> rounds;
  std::vector<std::pair<float, float>> halves;  ///< ours, theirs
};

}  // namespace

std::string to_text(const Action& action) {
  static constexpr std::array words{
      "hears",       "computes",   "wakes",        "misses",  "has back", "buries", "meets",
      "is cut from", "is deaf to", "is joined to", "freezes", "thaws",    "dies",   "starts again"};
  const bool two =
      action.kind == Kind::deliver || (action.kind >= Kind::away && action.kind <= Kind::heal);
  const std::string_view word = words[static_cast<std::size_t>(action.kind)];
  return two ? fmt::format("{} {} {}", action.a, word, action.b)
             : fmt::format("{} {}", action.a, word);
}

/// One process of a peer, which is its own world and journal.
struct SmallFleet::Member : Computing, Journal {
  Member(SmallFleet& all, const Plan& plan) : fleet(all), id(plan.id) {
    QuadraticSpec spec;
    spec.dimension = 1;
    spec.noise = 0;
    spec.start = static_cast<float>(1 << (2 * plan.id));
    replica = make_host_replica(make_quadratic(spec, 0, plan.peers, Rng(1)), {}, 1, Rng(1));
    peer = std::make_unique<Peer>(plan, *this, *this, *replica, fleet.rules_);
  }

  Time now() const override { return Time{0}; }
  void send(PeerId to, Message message) override {
    // A session keeps messages for a neighbour that was not met yet, and none for a dead one.
    if (!has_met(to) || !fleet.strangers(id, to))
      fleet.links_[{id, to}].messages.push_back(std::move(message));
  }
  void after(Time delay, std::function<void()> f) override {
    if (delay != rest_at_first) return timers.push_back(std::move(f));
    rest = std::move(f);
    owes_rest = false;
  }
  void offload(Lane, double, std::function<void()> job, std::function<void()> done) override {
    jobs.push_back([job = std::move(job), done = std::move(done)] {
      job();
      done();
    });
  }
  std::uint64_t sent_bytes() const override { return 0; }

  void settled(const Settlement& s) override {
    Book& own = books[s.with];
    own.rounds.push_back(Inspect::open_round(*peer, *peer->find(s.with)));
    own.halves.emplace_back(s.ours->floats()[0], s.theirs->floats()[0]);
    met = true;
    if (fleet.strangers(id, s.with)) return;
    const Book& other = fleet.member(s.with).books[id];
    const std::size_t at = own.rounds.size() - 1;
    if (other.rounds.size() <= at) return;
    const auto [ours, theirs] = own.halves[at];
    if (other.rounds[at] != own.rounds[at] || other.halves[at] != std::pair(theirs, ours))
      fleet.violate(fmt::format("peers {} and {} apply flows that are not opposite", id, s.with));
  }
  /// A round without an exchange takes as long as others: if it ended at once, a rest must follow.
  void round_done(RoundDone) override {
    if (owes_rest) fleet.violate(fmt::format("peer {} does rounds alone without a rest", id));
    if (met) ++met_rounds;
    const bool alone = !std::exchange(met, false) && met_rounds < 3;
    const bool may_hasten = Inspect::company_waits(*peer) && !hastened;
    hastened = alone && (hastened || may_hasten);
    owes_rest = alone && !may_hasten;
  }

  bool has_met(PeerId other) const { return life == 0 || met_life.contains(other); }
  bool done() const { return task && task->done(); }
  bool dead() const { return killed; }
  bool acts() const { return !frozen && !dead(); }

  SmallFleet& fleet;
  PeerId id;
  std::uint64_t life = 0;
  std::map<PeerId, std::uint64_t> met_life;  ///< the neighbour's process that was met
  std::map<PeerId, Book> books;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<Peer> peer;
  std::function<void()> rest;
  std::vector<std::function<void()>> timers;
  std::deque<std::function<void()>> jobs;
  bool frozen = false;
  bool killed = false;
  bool met = false;  ///< whether a flow was applied in this round
  bool owes_rest = false;
  bool hastened = false;  ///< a round alone may follow at once, because a half waits for it
  std::size_t met_rounds = 0;
  std::optional<Task<>> task;  ///< last, so that it is destroyed first
};

SmallFleet::SmallFleet(const Shape& shape, const Rules& rules)
    : shape_(shape),
      rules_(rules),
      neighbors_(neighbors_of(shape)),
      members_(shape.peers),
      faults_left_(shape.faults) {
  for (PeerId i = 0; i < shape.peers; ++i)
    for (const PeerId j : neighbors_[i]) links_[{i, j}];
  for (PeerId i = 0; i < shape.peers; ++i)
    members_[i] = std::make_unique<Member>(*this, plan_of(i));
  for (PeerId i = 0; i < shape.peers; ++i) start(i, false);
}

SmallFleet::~SmallFleet() = default;

Plan SmallFleet::plan_of(PeerId i) const {
  Plan plan;
  plan.id = i;
  plan.peers = shape_.peers;
  plan.neighborhood.peers = plan.neighborhood.receivers = neighbors_[i];
  plan.neighborhood.weights.assign(neighbors_[i].size(), 0.25);
  plan.neighborhood.self = 1 - 0.25 * static_cast<double>(neighbors_[i].size());
  plan.rounds = shape_.rounds;
  plan.catch_up = plan.keeps_pace = plan.ends_with_others = plan.successors = true;
  plan.deadline = Time{0};
  plan.patience = 2 * rest_at_first;
  return plan;
}

void SmallFleet::start(PeerId i, bool rejoins) {
  if (rejoins) {
    Plan plan = plan_of(i);
    plan.rejoins = true;
    auto next = std::make_unique<Member>(*this, plan);
    next->life = member(i).life + 1;
    members_[i] = std::move(next);
    for (const PeerId j : neighbors_[i]) links_[{i, j}].messages.clear();
  }
  for (const PeerId j : neighbors_[i])
    if (rejoins) reachable(i, j) ? meet(j, i) : member(i).peer->away(j);
  Member& own = member(i);
  own.task.emplace(live(*own.peer, shape_.lian ? rounds_lian : rounds_atc));
  own.task->start();
  run_jobs();
}

/// Two processes that did not know each other shake hands.
void SmallFleet::meet(PeerId i, PeerId j) {
  const bool anew_there = knows_another(i, j);
  const bool anew_here = knows_another(j, i);
  for (const auto& [a, b, anew] : {std::tuple(i, j, anew_there), std::tuple(j, i, anew_here)}) {
    Member& own = member(a);
    own.met_life[b] = member(b).life;
    own.books.erase(b);
    if (anew) links_[{a, b}].messages.clear();
    own.peer->heard_round(b, member(b).peer->clock());
  }
  for (const auto& [a, b, anew] : {std::tuple(i, j, anew_there), std::tuple(j, i, anew_here)}) {
    Peer& peer = *member(a).peer;
    if (anew) {
      peer.replaced(b);
    } else if (!Inspect::here(peer, *peer.find(b))) {
      peer.back(b);
    }
  }
  run_jobs();
}

/// Returns whether a has met an earlier process of b than the present one.
bool SmallFleet::knows_another(PeerId a, PeerId b) const {
  return member(a).has_met(b) && member(a).met_life[b] != member(b).life;
}

/// Returns whether a neighbour's process is not the one that was met, or has ended.
bool SmallFleet::strangers(PeerId a, PeerId b) const {
  return member(a).dead() || member(b).dead() || unacquainted(a, b);
}

bool SmallFleet::unacquainted(PeerId a, PeerId b) const {
  return !member(a).has_met(b) || !member(b).has_met(a) || knows_another(a, b) ||
         knows_another(b, a);
}

/// Runs the pending jobs: arithmetic other than gradients takes no time here.
void SmallFleet::run_jobs() {
  for (bool again = true; std::exchange(again, false);)
    for (const auto& each : members_)
      while (!each->jobs.empty()) {
        const auto job = std::move(each->jobs.front());
        each->jobs.pop_front();
        job();
        again = true;
      }
}

/// Returns whether a and b reach each other.
bool SmallFleet::reachable(PeerId a, PeerId b) const {
  return !links_.at({a, b}).blocked && !links_.at({b, a}).blocked && member(a).acts() &&
         member(b).acts();
}

std::vector<Action> SmallFleet::actions() const {
  std::vector<Action> out;
  for (PeerId i = 0; i < members_.size(); ++i)
    if (member(i).acts()) add_local_actions(i, out);
  add_faults(out);
  return out;
}

void SmallFleet::add_local_actions(PeerId i, std::vector<Action>& out) const {
  const Member& own = member(i);
  if (own.computing) out.push_back({Kind::compute, i});
  if (Inspect::rests(*own.peer)) out.push_back({Kind::wake, i});
  for (const PeerId j : neighbors_[i]) {
    const std::size_t k = *own.peer->find(j);
    const bool here = Inspect::here(*own.peer, k);
    const Link& link = links_.at({j, i});
    if (unacquainted(i, j)) {
      if (i < j && reachable(i, j)) out.push_back({Kind::meet, i, j});
      continue;
    }
    if (!link.messages.empty() && !link.blocked && here) out.push_back({Kind::deliver, i, j});
    if (member(j).dead()) {
      if (!Inspect::dead(*own.peer, k) && link.messages.empty()) out.push_back({Kind::died, i, j});
      continue;
    }
    if (here && !reachable(i, j)) out.push_back({Kind::away, i, j});
    if (!here && reachable(i, j)) out.push_back({Kind::back, i, j});
  }
}

void SmallFleet::add_faults(std::vector<Action>& out) const {
  const auto may = [&](char kind) {
    return faults_left_ > 0 && shape_.kinds.find(kind) != std::string::npos;
  };
  for (const auto& [edge, link] : links_) {
    const auto [from, to] = edge;
    if (link.blocked) out.push_back({Kind::heal, to, from});
    if (link.blocked || links_.at({to, from}).blocked) continue;
    if (may('c') && from < to) out.push_back({Kind::cut, to, from});
    if (may('o')) out.push_back({Kind::one_way, to, from});
  }
  for (PeerId i = 0; i < members_.size(); ++i) {
    const Member& each = member(i);
    if (each.frozen) out.push_back({Kind::thaw, i});
    if (each.dead() && shape_.kinds.find('s') != std::string::npos) out.push_back({Kind::start, i});
    if (!each.acts() || each.done()) continue;
    if (may('f')) out.push_back({Kind::freeze, i});
    if (may('k') || may('s')) out.push_back({Kind::kill, i});
  }
}

void SmallFleet::act(const Action& action) {
  const auto [kind, a, b] = action;
  if (action.fault()) return strike(action);
  Member& own = member(a);
  if (kind == Kind::deliver) deliver(a, b);
  if (kind == Kind::compute) std::exchange(own.computing, {})();
  if (kind == Kind::wake) std::exchange(own.rest, {})();
  if (kind == Kind::away) own.peer->away(b);
  if (kind == Kind::back) {
    own.peer->heard_round(b, member(b).peer->clock());
    own.peer->back(b);
  }
  if (kind == Kind::died) own.peer->died(b);
  if (kind == Kind::meet) meet(a, b);
  if (kind == Kind::back || kind == Kind::meet || kind == Kind::died) mark_fault();
  run_jobs();
}

void SmallFleet::deliver(PeerId to, PeerId from) {
  std::deque<Message>& messages = links_[{from, to}].messages;
  const Message message = std::move(messages.front());
  messages.pop_front();
  Peer& peer = *member(to).peer;
  peer.heard_round(from, message.round);
  if (peer.deliver(message)) return;
  violate(fmt::format("peer {} refuses a message of peer {}", to, from));
}

void SmallFleet::strike(const Action& action) {
  const auto [kind, a, b] = action;
  const bool begins =
      kind == Kind::cut || kind == Kind::one_way || kind == Kind::freeze || kind == Kind::kill;
  if (begins) --faults_left_;
  if (kind == Kind::cut) links_[{a, b}].blocked = links_[{b, a}].blocked = true;
  if (kind == Kind::one_way) links_[{b, a}].blocked = true;
  if (kind == Kind::heal) links_[{a, b}].blocked = links_[{b, a}].blocked = false;
  if (kind == Kind::freeze) member(a).frozen = true;
  if (kind == Kind::thaw) member(a).frozen = false;
  if (kind == Kind::kill) {
    member(a).task.reset();
    member(a).killed = true;
    for (const PeerId j : neighbors_[a]) links_[{j, a}].messages.clear();
  }
  if (kind == Kind::start) start(a, true);
  mark_fault();
}

void SmallFleet::mark_fault() {
  disturbed_ = true;
  for (const auto& each : members_) last_fault_ = std::max(last_fault_, each->peer->round);
}

bool SmallFleet::let_time_pass() {
  bool any = false;
  for (const auto& each : members_) {
    if (!each->acts()) continue;
    for (const auto& timer : std::exchange(each->timers, {})) {
      any = true;
      timer();
    }
  }
  run_jobs();
  return any;
}

void SmallFleet::violate(const std::string& what) {
  if (violation_.empty()) violation_ = what;
}

std::uint64_t SmallFleet::digest() const {
  Inspect::Hash hash;
  hash.add(faults_left_);
  hash.add(disturbed_ ? last_fault_ + 1 : 0);
  for (const auto& each : members_) {
    hash.add(each->life * 64 + (each->frozen ? 1U : 0U) + (each->dead() ? 2U : 0U) +
             (each->done() ? 4U : 0U) + (each->computing ? 8U : 0U) + (each->owes_rest ? 16U : 0U) +
             (each->hastened ? 256U * 256U : 0U) + (each->met ? 32U : 0U));
    if (each->dead()) continue;
    Inspect::add(*each->peer, hash);
    for (const auto& [with, book] : each->books) {
      hash.add(with);
      for (const Round round : book.rounds) hash.add(round);
    }
    for (const auto& [with, life] : each->met_life) hash.add(life);
  }
  for (const auto& [edge, link] : links_) {
    hash.add(link.blocked ? 1 : 0);
    for (const Message& m : link.messages) {
      hash.add(static_cast<std::uint64_t>(m.kind) * 16 + m.part);
      hash.add(m.number);
      hash.add(m.round);
    }
  }
  return hash.get();
}

std::string SmallFleet::to_text() const {
  std::string text;
  for (const auto& each : members_) {
    text += fmt::format("  [{}{} round {} clock {}", each->id,
                        each->dead()   ? " dead"
                        : each->frozen ? " frozen"
                        : each->done() ? " done"
                                       : "",
                        each->peer->round, each->peer->clock());
    for (const PeerId j : neighbors_[each->id])
      text += fmt::format(", {}: {}", j, Inspect::to_text(*each->peer, *each->peer->find(j)));
    text += "]";
  }
  return text;
}

std::string SmallFleet::judge_end() const {
  for (const auto& each : members_)
    if (!each->dead() && !each->done())
      return fmt::format("peer {} waits for ever in round {}", each->id, each->peer->round);
  for (PeerId a = 0; a < members_.size(); ++a)
    for (const PeerId b : neighbors_[a])
      if (a < b && !strangers(a, b))
        if (const std::string wrong = judge_edge(a, b); !wrong.empty()) return wrong;
  return "";
}

/// Returns what is wrong with an edge: both ends must have applied the same flows, and the edge
/// must flow again soon after the last fault.
std::string SmallFleet::judge_edge(PeerId a, PeerId b) const {
  constexpr Round soon = 3;
  const std::vector<Round>& ours = member(a).books[b].rounds;
  const std::vector<Round>& theirs = member(b).books[a].rounds;
  const std::string edge = fmt::format("the edge of peers {} and {}", a, b);
  if (ours != theirs) return edge + " counts other rounds at its ends";
  for (Round round = disturbed_ ? last_fault_ + soon : 0; round < shape_.rounds; ++round)
    if (std::ranges::find(ours, round) == ours.end())
      return fmt::format("{} is silent in round {}", edge, round);
  return "";
}

}  // namespace gv::explore
