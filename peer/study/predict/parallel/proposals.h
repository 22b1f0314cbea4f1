#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "peer/study/predict/parallel/strategy.h"

namespace gv {

/// Says what dividing a model is worth beside copying it and beside one machine.
struct ParallelAdvice {
  enum class Way : std::uint8_t { pipeline, data_parallel, alone };

  std::vector<ParallelProposal> proposals{};      ///< pipelines, the fastest first
  std::vector<ParallelProposal> data_parallel{};  ///< the fleet's batch for each peer, and for all
  ParallelProposal alone{};                       ///< on the fastest peer
  double batch_to_hide = 0;  ///< samples of a peer and round behind which averaging hides
  Way way = Way::alone;
  std::string why{};
};

/// As fleet files and JSON spell it: pipeline, data-parallel, alone.
std::string name_of(ParallelAdvice::Way way);

/// What a round of this way would be shorter with less of.
std::string bottleneck_of(const StrategyCosts& costs,
                          const Strategy& d,
                          const ParallelProposal& in_rounds);

/// Divides the fleet's model into 1 to n stages for its n peers as they stand, in as many chains as
/// that leaves; cuts by the partitioner, times by timetable.h, and by the method's own rounds in
/// virtual time for the best. The fleet's batch is that of a chain and round, and the schedule
/// is its own: what another one would train is another model. Throws std::invalid_argument for a
/// model without layers.
ParallelAdvice advise_parallel(const StrategyCosts& costs);

/// Takes a division that a search has found if it is faster, and advises again.
void add_found(ParallelAdvice& advice, const ParallelProposal& found);

/// A network in pieces, and the peers of a chain that divide it.
struct PartitionProblem {
  std::vector<double> seconds;  ///< of each piece on a peer of speed 1, there and back
  /// The seconds that the values behind each piece but the last take to cross, one way.
  std::vector<double> crossing;
  std::vector<double> speeds;  ///< of the stages' peers, in their order
  std::uint32_t microbatches = 1;
};

/// Where its stages end: in ascending order, one less than there are, each at most the number of
/// pieces less one. Stage s has pieces [ends[s - 1], ends[s]).
struct StageEnds {
  std::vector<std::size_t> ends;
  double value = 0;  ///< seconds of a minibatch, about: see value_of
};

/// What a minibatch takes where the slowest stage or crossing is busy all the time: the way of one
/// microbatch through all of them and back, and the slowest one for each of the others.
double value_of(const PartitionProblem& problem, const std::vector<std::size_t>& ends);

/// The best ways to divide it by that value, the first of them the best of all, at most `most`. For
/// each bound on the slowest stage or crossing, the shortest way by dynamic programming: Zheng et
/// al. 2022, "Alpa", arXiv:2201.12023, section 5.2. Empty: there are fewer pieces than stages.
std::vector<StageEnds> best_partitions(const PartitionProblem& problem, std::size_t most);

}  // namespace gv
