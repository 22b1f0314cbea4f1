#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/mixing/mixing.h"

namespace gv {

/// A mixing matrix for every round: W_0, W_1, ... All peers compute the same sequence, each its own
/// row, from nothing but the specification, the number of peers and the seed in it.
class MixingSchedule {
 public:
  virtual ~MixingSchedule() = default;

  virtual PeerId size() const = 0;
  /// Row i of W_round, with the receivers of i. Pure: the same arguments, the same row, anywhere.
  virtual Neighborhood row(std::uint64_t round, PeerId i) const = 0;
  virtual bool directed() const { return false; }
  /// The peers with which i must be connected: all that occur in row i of some round, with weights
  /// 0. Unless a schedule knows better, those are the peers of one period, or everyone when there
  /// is no period.
  virtual Neighborhood links(PeerId i) const;
  /// W_{round + period} = W_round; 0: random, without a period.
  virtual std::uint64_t period() const = 0;
  /// ||E[W^T W] - J||_2 of a random schedule where it has a formula: the expected squared
  /// disagreement shrinks at least by it in each round.
  virtual std::optional<double> contraction() const { return std::nullopt; }
  /// Returns how much larger it may be where an iteration computed it; 0 where it is exact.
  virtual double contraction_error() const { return 0; }

  /// W_round, put together from its rows, and checked to be doubly stochastic.
  MixingMatrix matrix(std::uint64_t round) const;
  /// The graph of all links.
  Topology topology(std::string name) const;
};

}  // namespace gv
