#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "optim/machine/stopwatch.h"
#include "optim/rng.h"
#include "peer/sim/swarm.h"

namespace gv {
namespace {

/// Limits of the pace after an accident relative to before: at least half, at most twice.
constexpr double slowest = 0.5;
constexpr double fastest = 2;
/// Fraction by which the loss may be larger, in addition to its own noise. A fleet that stood still
/// may have the loss that the undisturbed fleet had earlier, by the lengths of the accident and the
/// settling.
constexpr double worse = 0.05;
/// Number of evaluations of the models from the settling to the end.
constexpr int looks = 6;
/// Mean squared distances of models vary with their noise. Distances below `near` count as equal,
/// because a peer whose clock jumped evaluates its model earlier than the others.
constexpr double further = 10;
constexpr double near = 0.06;

struct Named {
  std::string_view name;
  std::vector<Accident> accidents;
};

/// The peer that suffers, and one of its neighbours if the fleet has edges.
struct Victims {
  PeerId first = 0;
  PeerId second = 0;
};

Victims victims_of(const Assembly& fleet) {
  const PeerId first = std::min<PeerId>(1, fleet.fleet.trainers() - 1);
  const std::vector<PeerId> links = links_of(fleet.plan(first));
  return {first, links.empty() ? first : links.back()};
}

/// Draws overlapping accidents; the same for the same fleet.
std::vector<Accident> overlapping(const Assembly& fleet,
                                  const HealingTimes& times,
                                  const char* which) {
  return overlapping_accidents(
      Rng(fleet.fleet.seed).derive("healing").derive(which),
      {.peers = fleet.fleet.trainers(),
       .links = [&fleet](PeerId i) { return links_of(fleet.plan(i)); },
       .from = times.at,
       .until = times.at + times.length,
       .least = times.length / 8,
       .kills = objection_to_death(*fleet.algorithm).empty() && fleet.plan(0).successors});
}

std::vector<Named> accidents_of(const Assembly& fleet, const HealingTimes& times) {
  using Kind = Accident::Kind;
  const auto [first, second] = victims_of(fleet);
  const auto one = [&](Kind kind) {
    return Accident{.kind = kind, .peer = first, .at = times.at, .length = times.length};
  };
  const PeerId third = fleet.fleet.trainers() - 1;
  Accident slow = one(Kind::slow), edge = one(Kind::cut), other = one(Kind::freeze);
  slow.factor = 10;
  edge.other = second;
  other.peer = third;
  other.at += times.length / 4;
  other.length = times.length * 3 / 4;
  Accident death = one(Kind::kill);
  death.succeeds = fleet.plan(first).successors;
  return {{"freeze", {one(Kind::freeze)}},
          {"cut", {one(Kind::cut)}},
          {"one-way", {one(Kind::one_way)}},
          {"kill", {death}},
          {"slow", {slow}},
          {"clock", {one(Kind::clock)}},
          {"freeze-two", {one(Kind::freeze), other}},
          {"cut-edge", {edge}},
          {"overlap-a", overlapping(fleet, times, "a")},
          {"overlap-b", overlapping(fleet, times, "b")},
          {"overlap-c", overlapping(fleet, times, "c")}};
}

double usual(const std::vector<double>& values) {
  return values.empty() ? std::nan("") : median(values);
}

/// The records of a run between two times.
struct Seen {
  std::vector<double> loss, consensus;
};
Seen seen(const std::vector<FleetRecord>& records, Time from, Time to, Time period) {
  Seen all;
  for (const FleetRecord& record : records) {
    const Time at = record.tick > 0 ? static_cast<std::int64_t>(record.tick) * period : record.time;
    if (at <= from || at >= to) continue;
    all.loss.push_back(record.mean.loss);
    all.consensus.push_back(record.consensus);
  }
  return all;
}

void look_at_models(Health& health,
                    const std::vector<FleetRecord>& records,
                    const HealingTimes& times,
                    Time period) {
  const Seen end = seen(records, times.end() - times.afterwards, times.end(), period);
  const Seen earlier = seen(records, times.at, times.at + times.afterwards, period);
  health.loss = usual(end.loss);
  health.earlier_loss = usual(earlier.loss);
  health.consensus = usual(end.consensus);
  const auto [least, most] = std::ranges::minmax_element(end.loss);
  health.spread = end.loss.empty() ? 0 : *most - *least;
}

/// Demands less on directed edges, where averaging preserves no sum and there is no ledger.
Judgement judgement_after(const Assembly& fleet) {
  const Judgement judgement = judgement_of(fleet);
  const AlgorithmRow& row = *fleet.algorithm;
  if (fleet.topology.directed && row.mixes && row.promise != Promise::push_sum)
    return Judgement::ends;
  return judgement == Judgement::bits ? Judgement::finite : judgement;
}

Health live_through(const Assembly& fleet,
                    const HealingTimes& times,
                    const std::vector<Accident>& accidents,
                    const PeerParts& parts,
                    const Usual* usual = nullptr) {
  std::vector<FleetRecord> records;
  Observer observer(fleet.fleet.size(), fleet.evaluator(),
                    [&](const FleetRecord& record) { records.push_back(record); });
  SimulationOptions options;
  options.threads = 1;
  options.parts = parts;
  options.faults = FaultPlan{.until = Time::max(),
                             .trace = {},
                             .drawn = false,
                             .judgement = judgement_after(fleet),
                             .accidents = accidents,
                             .looks = {times.end() - times.afterwards, times.end() - Time{1}},
                             .usual = usual,
                             .times = times.links};
  const SimulationResult result = simulate(fleet, observer, options);
  Health health;
  const double seconds = std::chrono::duration<double>(times.afterwards).count();
  const bool complete = result.looks.size() == 2;
  for (std::size_t i = 0; complete && i < result.looks[0].size(); ++i)
    health.pace.push_back(static_cast<double>(result.looks[1][i] - result.looks[0][i]) / seconds);
  look_at_models(health, records, times, fleet.fleet.evaluate_period);
  if (!complete) health.wrong = "it ended before its time";
  if (!result.broken_by.empty())
    health.wrong = fmt::format("without peer {} no round is complete", *result.broken_by.begin());
  if (!result.chains_ended.empty())
    health.wrong = fmt::format("the chain of peer {} has ended", *result.chains_ended.begin());
  if (!result.violations.empty()) health.wrong = result.violations.front();
  health.ended = health.wrong.empty();
  return health;
}

/// Returns the pace ratio of the peer furthest from its former pace, except the dead one.
double pace_ratio(const Health& before, const Health& after, std::optional<PeerId> dead) {
  double ratio = 1;
  for (std::size_t i = 0; i < std::min(before.pace.size(), after.pace.size()); ++i) {
    if (dead == static_cast<PeerId>(i) || before.pace[i] == 0) continue;
    const double own = after.pace[i] / before.pace[i];
    const auto distance = [](double r) { return r > 0 ? std::abs(std::log(r)) : 1e9; };
    if (distance(own) > distance(ratio)) ratio = own;
  }
  return ratio;
}

/// Returns whether all other peers are connected without this one.
bool meet_without(const Assembly& fleet, PeerId dead) {
  const PeerId peers = fleet.fleet.size();
  std::vector<PeerId> reached;
  if (peers > 1) reached.push_back(dead == 0 ? 1 : 0);
  for (std::size_t next = 0; next < reached.size(); ++next)
    for (const PeerId j : links_of(fleet.plan(reached[next])))
      if (j != dead && std::ranges::count(reached, j) == 0) reached.push_back(j);
  return reached.size() + 1 == peers;
}

/// The figures that should recover after an accident.
struct Hopes {
  bool loss = true;       ///< the peer returns; otherwise its samples are missing
  bool consensus = true;  ///< all peers can still meet
};

/// Returns what can recover; after a clock jump, the fleet evaluates that peer at another time.
Hopes hopes_after(const Assembly& fleet, const Accident& accident) {
  const bool dead = accident.kind == Accident::Kind::kill && !accident.succeeds;
  const bool together = !dead || meet_without(fleet, accident.peer);
  return {.loss = !dead, .consensus = together && accident.kind != Accident::Kind::clock};
}

void judge(Healing& healing, Hopes hopes) {
  const Health& before = healing.before;
  const Health& after = healing.after;
  const auto failure = [&](std::string text) { healing.failures.push_back(std::move(text)); };
  if (!after.ended) return failure(after.wrong);
  if (!(healing.pace >= slowest && healing.pace <= fastest))
    failure(fmt::format("{:.3g} of its undisturbed pace", healing.pace));
  const double was = std::max(before.loss, before.earlier_loss);
  const double most_loss = was + worse * std::abs(was) + 2 * before.spread;
  if (hopes.loss && !(after.loss <= most_loss))
    failure(fmt::format("a loss of {:.4g}, undisturbed {:.4g}", after.loss, before.loss));
  if (hopes.consensus && !(after.consensus <= further * before.consensus + near))
    failure(
        fmt::format("models {:.3g} apart, undisturbed {:.3g}", after.consensus, before.consensus));
}

/// Ends and evaluates the fleet by time. Evaluates it by rounds if all peers wait for each other,
/// because there is no model in the middle of a collective.
Fleet timed(Fleet fleet, const HealingTimes& times, const PeerParts& parts) {
  fleet.stop = {};
  fleet.stop.time = times.end();
  fleet.optimizer.schedule = {};  // a schedule would need the last round
  fleet.checkpoint.every = 0;
  fleet.faults.inject.clear();
  fleet.evaluate_every = 0;
  fleet.evaluate_every_epochs.reset();
  fleet.evaluate_period = times.afterwards / (looks + 1);
  const Assembly by_time(fleet);
  if (by_time.algorithm->promise != Promise::agreement) return fleet;
  const Health undisturbed = live_through(by_time, times, {}, parts);
  const double rounds = *std::ranges::min_element(undisturbed.pace) *
                        std::chrono::duration<double>(fleet.evaluate_period).count();
  fleet.evaluate_every = std::max(1U, static_cast<unsigned>(rounds));
  fleet.evaluate_period = Time{0};
  return fleet;
}

}  // namespace

std::vector<std::string_view> accident_names() {
  return {"freeze",     "cut",      "one-way",   "kill",      "slow",     "clock",
          "freeze-two", "cut-edge", "overlap-a", "overlap-b", "overlap-c"};
}

std::string objection_to_death(const AlgorithmRow& row) {
  if (row.promise != Promise::agreement) return "";
  return fmt::format("{} waits for all peers, so a death ends its fleet", row.kind);
}

std::vector<Healing> heal(const Fleet& file,
                          const HealingTimes& times,
                          const std::function<void(const Healing&)>& on_done,
                          const PeerParts& parts) {
  const Assembly fleet(timed(file, times, parts));
  const Health undisturbed = live_through(fleet, times, {}, parts);
  const Usual usual = usual_of(fleet);
  std::vector<Healing> all;
  for (const Named& named : accidents_of(fleet, times)) {
    Healing healing{.accident = named.name, .before = undisturbed};
    const Accident& first = named.accidents.front();
    const bool kills = first.kind == Accident::Kind::kill;
    if (kills) healing.refused = objection_to_death(*fleet.algorithm);
    if (healing.refused.empty()) {
      healing.after = live_through(fleet, times, named.accidents, parts, &usual);
      const bool dead = kills && !first.succeeds;
      healing.pace =
          pace_ratio(undisturbed, healing.after, dead ? std::optional(first.peer) : std::nullopt);
      judge(healing, hopes_after(fleet, first));
    }
    if (on_done) on_done(healing);
    all.push_back(std::move(healing));
  }
  return all;
}

}  // namespace gv
