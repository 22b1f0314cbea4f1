#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "gossip/journal.h"

namespace gv {

/// Finds a loss that rises so much at once that training is not the cause: a hundredfold of what it
/// was lately and tenfold of what it has ever been, in two minibatches one after the other, since
/// one alone may hold a sample like no other. Or it is not finite.
class LossWatch {
 public:
  /// The loss of a minibatch. The rise, when it is found for the first time.
  std::optional<LossRise> see(Round round, double loss) {
    // A loss of exactly 0 does not count: every other one is more than a hundredfold of it.
    if (first_ || loss == 0) return {};
    const bool known = seen_ >= least_seen;
    const bool high = loss > hundredfold * lately_ && loss > tenfold * greatest_;
    if (!std::isfinite(loss) || (known && high && std::exchange(suspected_, true))) {
      first_ = LossRise{.round = round, .from = lately_, .to = loss};
      return first_;
    }
    if (known && high) return {};
    suspected_ = false;
    ++seen_;
    lately_ += (std::abs(loss) - lately_) / std::min(seen_, remembered);
    greatest_ = std::max(greatest_, std::abs(loss));
    return {};
  }
  const std::optional<LossRise>& first() const { return first_; }

 private:
  static constexpr double hundredfold = 100, tenfold = 10;
  static constexpr double least_seen = 5, remembered = 20;  ///< minibatches

  double seen_ = 0;
  double lately_ = 0;    ///< the mean of what is remembered
  double greatest_ = 0;  ///< so far
  bool suspected_ = false;
  std::optional<LossRise> first_;
};

}  // namespace gv
