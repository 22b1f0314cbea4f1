#pragma once

#include <array>
#include <optional>
#include <string>

#include "peer/study/compare/comparison.h"

namespace gv {

/// The reason why one contender takes longer than another: log (T_b / T_a) is that of the rounds
/// plus that of the seconds of a round, and the latter's difference is a sum over a peer's states.
struct Explanation {
  double rounds = 1;  ///< b's over a's, geometric means over the seeds of both
  double seconds_per_round = 1;
  std::optional<ActivitySeconds>
      more;                     ///< b's seconds in each state less a's, of one round and one peer
  double round_difference = 0;  ///< seconds: b's round less a's
  std::optional<std::size_t> state;  ///< the one that explains most of it; nothing where none does
  bool by_rounds = false;            ///< the rounds explain more of the ratio than the round does
};

/// Returns nothing where one of the two misses the target with some seed.
std::optional<Explanation> explain(const Contender& a, const Contender& b);

/// "0.98x the rounds, 2.01x the seconds of each (wire 87.1 ms more)": with the one or two states of
/// a round that differ most.
std::string to_string(const Explanation& e);

}  // namespace gv
