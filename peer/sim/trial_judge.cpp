#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "peer/sim/trial.h"

// The judgement on a fleet when nothing can happen in it any more.

namespace gv {
namespace {

/// The tolerance for a vector, relative to the largest coordinate that it ever had: float rounding
/// stays below it, one flow that is in no book does not.
constexpr double drift_tolerance = 1e-4;
/// The most by which one more flow may round: half of the distance between two floats near 1.
constexpr double rounding_of_a_flow = 6e-8;

std::string vector_of(PeerId peer) {
  return fmt::format("the vector of peer {}", peer);
}

}  // namespace

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

/// Forgets who never began, or waits for ever: it says nothing any more.
void Trial::forget_missing() {
  for (PeerId i = 0; i < present_.size(); ++i)
    if (const Record& record = present(i); !record.dead && !(record.started && record.task->done()))
      shared_.observer->forget(i);
}

/// Averaging keeps out what is not finite. A sum of all has it everywhere, and a gradient in its
/// chain.
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

/// Nobody is left whom it could have met.
bool Trial::alone(const Record& record) {
  return std::ranges::all_of(links_of(record.peer->plan), [this](PeerId other) {
    const Record& theirs = present(other);
    return theirs.dead || theirs.liar || !theirs.started || theirs.task->done();
  });
}

/// Returns whether the process of `other` that this peer has met lies: a successor of it is another
/// one.
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
    violations_.push_back(fmt::format(
        "peer {} (life {}) waits for ever in round {}", id, number, record.peer->round));
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

/// Every exchange with a neighbour that lived to the end was settled at both ends.
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
      violations_.push_back(fmt::format(
          "peers {} and {} count {} and {} exchanges", id, other, exchanges.value, count.value));
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
  return judge_drift(
      worst / scale, vector_of(record.life.peer), drift_tolerance + rounding_of_a_flow * flowed);
}

/// Returns 0 where one died, and took its part of a flow along, or lied, and applied what it liked.
double Trial::drift_of_sum() {
  double scale = 1;
  std::map<std::size_t, std::vector<double>>
      sums;  // of each stage of the chains, or of whole models
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
