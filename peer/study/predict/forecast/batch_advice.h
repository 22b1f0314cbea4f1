#pragma once

#include <cstdint>

#include "peer/runtime/assembly.h"

namespace gv {

/// The meaning of a fleet's batch for a rate that was tuned for one peer alone.
struct BatchAdvice {
  double alone = 1;        ///< samples of one peer's gradient, on average
  double together = 1;     ///< samples behind one step of the fleet's model
  double linear = 0;       ///< lr together / alone: for SGD; Goyal et al. 2017, arXiv:1706.02677
  double square_root = 0;  ///< lr sqrt(together / alone): for Adam; Malladi et al. 2022,
                           ///< arXiv:2205.10287
  /// Steps over which to rise to the linear rate: five epochs (Goyal et al.), a tenth of the run at
  /// the most. 0: the batch is not twice as large.
  std::uint64_t warmup = 0;
};
BatchAdvice batch_advice(const Assembly& fleet);
/// Returns whether programs take the steps, at a rate of their own: the file's lr is of nothing.
bool has_own_rate(const Assembly& fleet);

}  // namespace gv
