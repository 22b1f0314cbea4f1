#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "peer/fleet/fleet.h"
#include "peer/study/predict/parallel/proposals.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double never = std::numeric_limits<double>::infinity();
/// A way that is slower by a fifth of the time of data parallelism is accepted once in e.
constexpr double strictness = 5;
constexpr double near = 1.01;     ///< within this factor by the timetable, rounds are run
constexpr double returns = 20;    ///< returns to the best per budget
constexpr double patience = 0.5;  ///< fraction of a budget without improvement that ends it

/// Scores of strategies, in seconds per sample.
class Scores {
 public:
  explicit Scores(const StrategyCosts& costs) : costs_(costs) {}

  /// Scores a single chain by the timetable, which is as accurate as its rounds and fast. Several
  /// chains, which average, and copies and members, which the timetable does not cover, run rounds.
  double of(const Strategy& d) {
    return d.chains() == 1 && d.is_plain() ? at_least(d) : of_rounds(d);
  }

  /// Scores by rounds in virtual time; `never` if the fleet cannot train like this.
  double of_rounds(const Strategy& d) {
    const auto [at, is_new] = known_.try_emplace(d, never);
    if (is_new) at->second = measured(d);
    return at->second;
  }

  /// Returns a quick lower bound: the time of the chains without averaging.
  double at_least(const Strategy& d) const {
    return costs_.chain_seconds(d) / (static_cast<double>(d.chains()) * costs_.batch());
  }

 private:
  double measured(const Strategy& d) const {
    try {
      const double seconds = costs_.rounds(d, costs_.batch()).seconds_per_round;
      return seconds > 0 ? seconds / (static_cast<double>(d.chains()) * costs_.batch()) : never;
    } catch (const FleetError&) {  // such as a graph for another number of chains
      return never;
    } catch (const std::invalid_argument&) {
      return never;
    }
  }

  const StrategyCosts& costs_;
  std::map<Strategy, double> known_;
};

class Search {
 public:
  Search(const StrategyCosts& costs,
         const ParallelAdvice& advice,
         const SearchBudget& budget,
         Rng rng,
         std::function<void(std::uint64_t, double)> progress)
      : costs_(costs),
        advice_(advice),
        budget_(budget),
        rng_(std::move(rng)),
        moves_(costs, rng_),
        scores_(costs),
        progress_(std::move(progress)) {}

  StrategySearch run() {
    const double beside = scores_.of(whole_models());
    unit_ = beside < never ? beside : advice_.alone.seconds_per_round / costs_.batch();
    std::vector<Strategy> starts;
    const auto begin_at = [&](const Strategy& start) {
      if (const std::optional<Strategy> fits = costs_.fitting(start)) starts.push_back(*fits);
    };
    begin_at(whole_models());
    if (!advice_.proposals.empty()) begin_at(strategy_of(advice_.proposals.front()));
    begin_at(moves_.anywhere(whole_models()));
    for (const Strategy& start : starts) see(start);
    const double share = 1 / static_cast<double>(starts.size());
    for (std::size_t k = 0; k < starts.size(); ++k)
      walk(starts[k], share * static_cast<double>(k), share);
    return result();
  }

 private:
  /// Returns the strategy with a whole model for each peer.
  Strategy whole_models() const {
    const bool flush = !costs_.fleet().fleet.parallel ||
                       costs_.fleet().fleet.parallel->schedule == ParallelSpec::Schedule::flush;
    const bool sync = !flush && costs_.fleet().fleet.parallel->vertical_sync;
    return {.flush = flush, .vertical_sync = sync, .place = costs_.as_numbered()};
  }

  Strategy strategy_of(const ParallelProposal& p) const {
    Strategy d = whole_models();
    d.stages = static_cast<PeerId>(p.stages.size());
    d.microbatches = p.microbatches;
    d.ahead = p.ahead;
    d.recompute = p.recompute;
    d.place = p.place;
    d.copies = p.copies;
    d.tensor = p.tensor;
    for (std::size_t k = 1; k < costs_.pieces(); ++k)
      if (std::ranges::find(p.stages, costs_.profile().pieces[k].name) != p.stages.end())
        d.ends.push_back(k);
    return d;
  }

  /// Returns the fraction of the budget spent.
  double spent() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    return std::max(seconds / budget_.seconds,
                    static_cast<double>(found_.moves) / static_cast<double>(budget_.moves));
  }

  /// Runs rounds of a strategy that may be the best.
  void see(const Strategy& d) {
    if (scores_.of(d) > near * best_score_) return;
    const double score = scores_.of_rounds(d);
    if (score >= best_score_) return;
    best_ = d;
    best_score_ = score;
    gained_at_ = spent();
  }

  void walk(const Strategy& start, double from, double share) {
    Strategy here = start;
    double score = scores_.of(here);
    gained_at_ = std::max(from, spent());
    double back_at = gained_at_ + share / returns;
    for (double at = gained_at_; at < from + share; at = spent()) {
      if (at > gained_at_ + patience * share) return;
      if (at > back_at && best_) {
        here = *best_;
        score = best_score_;
        back_at += share / returns;
      }
      step(here, score);
      if (progress_) progress_(found_.moves, best_ ? 1 / best_score_ : 0);
    }
  }

  /// Draws the acceptance threshold first, because most ways exceed it by the lower bound alone.
  void step(Strategy& here, double& score) {
    ++found_.moves;
    const double most = score - unit_ / strictness * std::log(1 - rng_.uniform());
    const std::optional<Strategy> next = costs_.fitting(moves_.from(here));
    if (!next || *next == here || !costs_.can_run(*next) || scores_.at_least(*next) > most) return;
    const double of_next = scores_.of(*next);
    if (of_next > most || of_next == never) return;
    ++found_.accepted;
    here = *next;
    score = of_next;
    see(here);
  }

  StrategySearch result() {
    if (best_) found_.best = costs_.proposal(*best_, costs_.batch());
    found_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    if (!advice_.proposals.empty())
      found_.best_of_partitioner = advice_.proposals.front().samples_per_second;
    return found_;
  }

  const StrategyCosts& costs_;
  const ParallelAdvice& advice_;
  SearchBudget budget_;
  Rng rng_;
  StrategyMoves moves_;
  Scores scores_;
  std::function<void(std::uint64_t, double)> progress_;
  Clock::time_point began_ = Clock::now();
  double unit_ = 1;  ///< seconds per sample with a model for each peer
  std::optional<Strategy> best_;
  double best_score_ = never;
  double gained_at_ = 0;
  StrategySearch found_;
};

/// Returns the end of the peers of stage k in a chain's order.
std::ptrdiff_t end_of_copies(const Strategy& d, std::size_t k) {
  return std::accumulate(d.copies.begin(), d.copies.begin() + static_cast<std::ptrdiff_t>(k) + 1,
                         std::ptrdiff_t{0});
}

}  // namespace

StrategySearch search_strategies(const StrategyCosts& costs,
                                 const ParallelAdvice& advice,
                                 const SearchBudget& budget,
                                 Rng rng,
                                 std::function<void(std::uint64_t moves, double rate)> progress) {
  return Search(costs, advice, budget, std::move(rng), std::move(progress)).run();
}

StrategyMoves::StrategyMoves(const StrategyCosts& costs, Rng& rng)
    : costs_(costs), rng_(rng), tensors_(costs.tensors()) {
  for (std::uint32_t m = 1; m <= costs.batch(); ++m)
    if (costs.batch() % m == 0) microbatches_.push_back(m);
}

/// Without a flush, minibatches are whole, and there are no copies or members.
std::vector<StrategyMoves::Move> StrategyMoves::moves_of(const Strategy& d) const {
  if (!d.flush) return {Move::end, Move::swap, Move::stages};
  std::vector<Move> moves{Move::end, Move::swap, Move::stages, Move::microbatches, Move::ahead};
  if (costs_.has_copies()) moves.push_back(Move::copies);
  if (tensors_.size() > 1) moves.push_back(Move::tensor);
  return moves;
}

Strategy StrategyMoves::from(Strategy d) {
  d.recompute = false;  // see StrategyCosts::fitting
  switch (one_of(moves_of(d))) {
    case Move::end:
      move_an_end(d);
      break;
    case Move::swap:
      swap_two(d);
      break;
    case Move::stages:
      change_stages(d);
      break;
    case Move::microbatches:
      d.microbatches = one_of(microbatches_for(d));
      break;
    case Move::ahead:
      d.ahead = one_of(std::vector<std::uint32_t>{1, 2, ParallelSpec::all});
      break;
    case Move::copies:
      change_copies(d);
      break;
    case Move::tensor:
      change_tensor(d);
      break;
  }
  return d;
}

Strategy StrategyMoves::anywhere(Strategy d) {
  set_stages(d, one_of(stages_for(1)));
  if (d.flush) d.microbatches = one_of(microbatches_);
  rng_.shuffle(d.place);
  return d;
}

std::vector<PeerId> StrategyMoves::stages_for(PeerId members) const {
  const PeerId n = costs_.peers() / members;
  std::vector<PeerId> all;
  for (PeerId p = 1; p <= std::min<std::size_t>(n, costs_.pieces()); ++p)
    if (n % p == 0) all.push_back(p);
  return all;
}

/// Each copy of a stage needs a microbatch; microbatches may be as small as one sample.
std::vector<std::uint32_t> StrategyMoves::microbatches_for(const Strategy& d) const {
  const PeerId least = d.copies.empty() ? 1 : std::ranges::max(d.copies);
  std::vector<std::uint32_t> enough;
  for (const std::uint32_t m : microbatches_)
    if (m >= least) enough.push_back(m);
  return enough.empty() ? microbatches_ : enough;
}

void StrategyMoves::move_an_end(Strategy& d) {
  if (d.ends.empty()) return;
  const std::size_t k = rng_.below(d.ends.size());
  const std::size_t least = k == 0 ? 1 : d.ends[k - 1] + 1;
  const std::size_t most = k + 1 == d.ends.size() ? costs_.pieces() - 1 : d.ends[k + 1] - 1;
  const bool up = rng_.below(2) == 1;
  if (up && d.ends[k] < most) ++d.ends[k];
  if (!up && d.ends[k] > least) --d.ends[k];
}

void StrategyMoves::swap_two(Strategy& d) {
  if (d.place.size() < 2) return;
  std::swap(d.place[rng_.below(d.place.size())], d.place[rng_.below(d.place.size())]);
}

/// Removes random ends or adds others anywhere.
void StrategyMoves::set_stages(Strategy& d, PeerId stages) {
  std::set<std::size_t> ends(d.ends.begin(), d.ends.end());
  while (ends.size() + 1 > stages)
    ends.erase(std::next(ends.begin(), static_cast<std::ptrdiff_t>(rng_.below(ends.size()))));
  while (ends.size() + 1 < stages) ends.insert(1 + rng_.below(costs_.pieces() - 1));
  d.ends.assign(ends.begin(), ends.end());
  d.stages = stages;
}

void StrategyMoves::change_stages(Strategy& d) {
  if (d.copies.empty()) return set_stages(d, one_of(stages_for(d.tensor)));
  const auto most = std::min<std::size_t>(costs_.peers() - 1, costs_.pieces());
  set_copies(d, 1 + static_cast<PeerId>(rng_.below(most)));
}

/// Adds copies if there are none; otherwise moves a peer from one stage to another, or removes all
/// copies.
void StrategyMoves::change_copies(Strategy& d) {
  if (d.copies.empty()) {
    d.tensor = 1;
    const auto most = std::min<std::size_t>(costs_.peers() - 1, costs_.pieces());
    const bool keeps = d.stages <= most && rng_.below(2) == 1;
    return set_copies(d, keeps ? d.stages : 1 + static_cast<PeerId>(rng_.below(most)));
  }
  if (d.stages > 1 && rng_.below(4) != 0) return turn_into_copy(d);
  d.copies.clear();
  if (costs_.peers() % d.stages != 0) set_stages(d, one_of(stages_for(1)));
}

/// Puts all peers into one chain with more peers than stages: one for each stage, the others at
/// random.
void StrategyMoves::set_copies(Strategy& d, PeerId stages) {
  set_stages(d, stages);
  d.copies.assign(stages, 1);
  for (PeerId left = costs_.peers() - stages; left > 0; --left) ++d.copies[rng_.below(stages)];
  if (d.microbatches < std::ranges::max(d.copies)) d.microbatches = one_of(microbatches_for(d));
}

/// The machine moves with its peer, and all others keep their stages.
void StrategyMoves::turn_into_copy(Strategy& d) {
  const std::size_t from = rng_.below(d.copies.size());
  const std::size_t to = rng_.below(d.copies.size());
  if (from == to || d.copies[from] == 1) return;
  const auto at = d.place.begin() + end_of_copies(d, from) - 1;
  const PeerId machine = *at;
  d.place.erase(at);
  --d.copies[from];
  d.place.insert(d.place.begin() + end_of_copies(d, to), machine);
  ++d.copies[to];
  if (d.microbatches < std::ranges::max(d.copies)) d.microbatches = one_of(microbatches_for(d));
}

/// Keeps the stages if this number of members leaves whole chains.
void StrategyMoves::change_tensor(Strategy& d) {
  d.copies.clear();
  d.tensor = one_of(tensors_);
  const std::vector<PeerId> stages = stages_for(d.tensor);
  if (std::ranges::find(stages, d.stages) == stages.end()) set_stages(d, one_of(stages));
}

}  // namespace gv
