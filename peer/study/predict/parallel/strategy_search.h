#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "optim/rng.h"
#include "peer/study/predict/parallel/proposals.h"
#include "peer/study/predict/parallel/strategy.h"

namespace gv {

/// Ends a search, whichever comes first.
struct SearchBudget {
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t moves = std::numeric_limits<std::uint64_t>::max();
};

/// What a search has found, and what it took.
struct StrategySearch {
  ParallelProposal
      best{};  ///< of 0 samples per second: no way that was met fits and can be trained
  std::uint64_t moves = 0;
  std::uint64_t accepted = 0;
  double seconds = 0;
  double best_of_partitioner = 0;  ///< samples per second; 0: it has proposed no pipeline
};

/// Looks for a way to divide the fleet's model that is faster than those of `advice`: over numbers
/// of stages and chains, over where stages end, over which peer is which stage, microbatches and
/// `ahead`, and, where the schedule is a flush, over copies of stages (of `all-reduce`) and members
/// that divide layers. Metropolis on the seconds for a sample (Jia et al. 2019, "FlexFlow",
/// arXiv:1807.05358, section 6): from a model for each peer, from the best pipeline of `advice` and
/// from a random way, a third of the budget each. What it returns is never slower than these.
/// `progress`: after each move, with the best until then in samples per second; or null.
StrategySearch search_strategies(const StrategyCosts& costs,
                                 const ParallelAdvice& advice,
                                 const SearchBudget& budget,
                                 Rng rng,
                                 std::function<void(std::uint64_t moves, double rate)> progress);

/// Ways to divide a model that lie beside each other, drawn: one stage's end, two machines, how
/// many stages, microbatches, `ahead`, the copies of stages or their members are other ones.
class StrategyMoves {
 public:
  StrategyMoves(const StrategyCosts& costs, Rng& rng);

  /// Keeps the schedule. May end where it began, or where no fleet can run
  /// (StrategyCosts::can_run).
  Strategy from(Strategy d);
  /// One of those whose stages have a peer each.
  Strategy anywhere(Strategy d);

 private:
  enum class Move : std::uint8_t { end, swap, stages, microbatches, ahead, copies, tensor };

  std::vector<Move> moves_of(const Strategy& d) const;
  std::vector<PeerId> stages_for(PeerId members) const;
  std::vector<std::uint32_t> microbatches_for(const Strategy& d) const;
  void move_an_end(Strategy& d);
  void swap_two(Strategy& d);
  void set_stages(Strategy& d, PeerId stages);
  void change_stages(Strategy& d);
  void change_copies(Strategy& d);
  void set_copies(Strategy& d, PeerId stages);
  void turn_into_copy(Strategy& d);
  void change_tensor(Strategy& d);

  template <class T>
  T one_of(const std::vector<T>& all) {
    return all[rng_.below(all.size())];
  }

  const StrategyCosts& costs_;
  Rng& rng_;
  std::vector<PeerId> tensors_;
  std::vector<std::uint32_t> microbatches_;
};

}  // namespace gv
