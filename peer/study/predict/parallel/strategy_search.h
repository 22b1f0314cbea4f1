#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "optim/rng.h"
#include "peer/study/predict/parallel/proposals.h"
#include "peer/study/predict/parallel/strategy.h"

namespace gv {

/// Limits of a search; the first one reached ends it.
struct SearchBudget {
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t moves = std::numeric_limits<std::uint64_t>::max();
};

/// The result of a search, and its cost.
struct StrategySearch {
  ParallelProposal best{};  ///< 0 samples per second if no strategy met fits and can be trained
  std::uint64_t moves = 0;
  std::uint64_t accepted = 0;
  double seconds = 0;
  double best_of_partitioner = 0;  ///< samples per second; 0: it proposed no pipeline
};

/// Searches for a division of the fleet's model that is faster than those of `advice`, over:
/// numbers of stages and chains, ends of stages, the placement of peers, microbatches and `ahead`,
/// and, if the schedule is a flush, copies of stages (for `all-reduce`) and members that divide
/// layers. Metropolis on the seconds per sample (Jia et al. 2019, "FlexFlow", arXiv:1807.05358,
/// section 6) starts from a model for each peer, from the best pipeline of `advice` and from a
/// random strategy, with a third of the budget each. The result is never slower than these.
/// `progress`: may be null; called after each move with the best samples per second.
StrategySearch search_strategies(const StrategyCosts& costs,
                                 const ParallelAdvice& advice,
                                 const SearchBudget& budget,
                                 Rng rng,
                                 std::function<void(std::uint64_t moves, double rate)> progress);

/// Random moves to neighbouring strategies, which differ in an end of a stage, two machines, the
/// number of stages or microbatches, `ahead`, the copies of stages or their members.
class StrategyMoves {
 public:
  StrategyMoves(const StrategyCosts& costs, Rng& rng);

  /// Keeps the schedule. May return the same strategy, or one that no fleet can run
  /// (StrategyCosts::can_run).
  Strategy from(Strategy d);
  /// Returns a random strategy with one peer per stage.
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
