#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "optim/rng.h"
#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/study/predict/parallel/strategy.h"

namespace gv {

/// Compares dividing a model with copying it and with a single machine.
struct ParallelAdvice {
  enum class Way : std::uint8_t { pipeline, data_parallel, alone };

  std::vector<ParallelProposal> proposals{};      ///< pipelines, the fastest first
  std::vector<ParallelProposal> data_parallel{};  ///< with the fleet's batch per peer, and in total
  ParallelProposal alone{};                       ///< the fastest peer alone
  double batch_to_hide = 0;  ///< samples per peer and round that hide averaging
  Way way = Way::alone;
  std::string why{};
};

/// Returns the name in fleet files and JSON: pipeline, data-parallel, alone.
std::string name_of(ParallelAdvice::Way way);

/// Divides the fleet's model into 1 to n stages for its n peers in file order, with as many chains
/// as that allows. The partitioner chooses cuts, strategy.h estimates times, and for the best ones
/// the method's own rounds run in virtual time. The fleet's batch is used per chain and round, and
/// its schedule is kept, because another schedule would train a different model. Throws
/// std::invalid_argument for a model without layers.
ParallelAdvice advise_parallel(const StrategyCosts& costs);

/// Adds a division found by a search if it is faster, and decides again.
void add_found(ParallelAdvice& advice, const ParallelProposal& found);

/// A network in pieces, and the peers of a chain that divide it among them.
struct PartitionProblem {
  std::vector<double> seconds;  ///< forward and backward per piece, speed 1
  /// Seconds for the values after each piece but the last to cross, one way.
  std::vector<double> crossing;
  std::vector<double> speeds;  ///< the stages' peers, in order
  std::uint32_t microbatches = 1;
};

/// Ends of the stages, one for each but the last: ascending, below the number of pieces. Stage s
/// has pieces [ends[s - 1], ends[s]).
struct StageEnds {
  std::vector<std::size_t> ends;
  double value = 0;  ///< approximate seconds per minibatch: see value_of
};

/// Returns the seconds of a minibatch if the slowest stage or crossing is always busy: one
/// microbatch's way through everything and back, plus the slowest time for each of the others.
double value_of(const PartitionProblem& problem, const std::vector<std::size_t>& ends);

/// Returns the at most `most` best divisions by value_of, the best first. For each bound on the
/// slowest stage or crossing it finds the shortest way by dynamic programming: Zheng et al. 2022,
/// "Alpa", arXiv:2201.12023, section 5.2. Empty if there are fewer pieces than stages.
std::vector<StageEnds> best_partitions(const PartitionProblem& problem, std::size_t most);

/// Returns a profile from floating-point operation counts, for a model that was not measured.
ModelProfile counted_profile(const Assembly& fleet);

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
