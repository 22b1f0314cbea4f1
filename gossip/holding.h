#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/topology/topology.h"
#include "optim/range.h"

namespace gv {

/// The part that a peer's x is of the fleet's model, which is at each coordinate the mean of those
/// that hold it, by their weights.
struct Holding {
  std::size_t begin = 0;  ///< the coordinate of the model at which x begins
  /// Where x is several ranges of the model, one behind the other: they, ascending. Empty: one
  /// range.
  std::vector<Range> ranges{};
  double weight = 1;  ///< 0: x is a copy of what others hold
  /// The model of which a stage of a chain has a part. Nothing: all of one, or a server's
  /// part.
  std::optional<PeerId> model{};
};

}  // namespace gv
