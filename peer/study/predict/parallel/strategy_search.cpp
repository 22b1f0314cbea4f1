#include "peer/study/predict/parallel/strategy_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "peer/fleet/fleet.h"
#include "peer/study/predict/parallel/strategy_moves.h"

namespace gv {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double never = std::numeric_limits<double>::infinity();
/// A way that is slower by a fifth of what a model for each peer takes is accepted once in e.
constexpr double strictness = 5;
constexpr double near = 1.01;     ///< of the best by the timetable, and it may be better
constexpr double returns = 20;    ///< to the best, so often in a budget
constexpr double patience = 0.5;  ///< of a budget without anything better ends it

/// One of the strategy's neighbours, drawn.
/// Seconds for a sample.
class Scores {
 public:
  explicit Scores(const StrategyCosts& costs) : costs_(costs) {}

  /// Of one chain by the timetable, which is as good as its rounds and takes no time; of several,
  /// which average, and of copies and members, which the timetable does not know, by their rounds.
  double of(const Strategy& d) {
    return d.chains() == 1 && d.is_plain() ? at_least(d) : of_rounds(d);
  }

  /// By its rounds in virtual time; `never`: it cannot be trained so.
  double of_rounds(const Strategy& d) {
    const auto [at, is_new] = known_.try_emplace(d, never);
    if (is_new) at->second = measured(d);
    return at->second;
  }

  /// At least this much, soon known: what its chains take where they need not average.
  double at_least(const Strategy& d) const {
    return costs_.chain_seconds(d) / (static_cast<double>(d.chains()) * costs_.batch());
  }

 private:
  double measured(const Strategy& d) const {
    try {
      const double seconds = costs_.rounds(d, costs_.batch()).seconds_per_round;
      return seconds > 0 ? seconds / (static_cast<double>(d.chains()) * costs_.batch()) : never;
    } catch (const FleetError&) {  // such as a graph that is for another number of chains
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
  /// Every peer with a model of its own.
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

  /// Returns how much of the budget is spent.
  double spent() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    return std::max(seconds / budget_.seconds,
                    static_cast<double>(found_.moves) / static_cast<double>(budget_.moves));
  }

  /// Measures what might be the best.
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

  /// Draws first how much slower a way may be: most need no rounds to be told from that.
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
    if (best_) {
      found_.best = costs_.proposal(*best_, costs_.batch());
      found_.best.bottleneck = bottleneck_of(costs_, *best_, found_.best);
    }
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
  double unit_ = 1;  ///< seconds for a sample of a model for each peer
  std::optional<Strategy> best_;
  double best_score_ = never;
  double gained_at_ = 0;
  StrategySearch found_;
};

}  // namespace

StrategySearch search_strategies(const StrategyCosts& costs,
                                 const ParallelAdvice& advice,
                                 const SearchBudget& budget,
                                 Rng rng,
                                 std::function<void(std::uint64_t moves, double rate)> progress) {
  return Search(costs, advice, budget, std::move(rng), std::move(progress)).run();
}

}  // namespace gv
