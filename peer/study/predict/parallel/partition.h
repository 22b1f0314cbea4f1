#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gv {

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
