#pragma once

#include <string>

#include "graph/schedule/schedule.h"

namespace gv {

/// The speed at which a schedule averages.
struct ScheduleRate {
  std::uint64_t period = 0;  ///< 0: random
  double product = 0;        ///< periodic: ||W_{period-1} ... W_0 - J||_2; 0: exact averaging
  double kappa = 0;          ///< random: ||E[W^T W] - J||_2, per round and squared
  double kappa_error = 0;    ///< standard error of an estimate, or by what Lanczos may fall short;
                             ///< 0: exact
  double per_round = 0;  ///< factor of a disagreement per round: product^(1/period), sqrt(kappa)
  std::string method;  ///< "product" | "dense" | "lanczos" (of one matrix) | "exact" | "N samples"

  /// Rounds until a disagreement is `target` times as large; infinite when it does not shrink.
  double rounds_to(double target) const;
};

/// Periodic: the second singular value of the product over a period (a single factor of a
/// time-varying sequence may have 1: Ying et al. 2021, arXiv:2110.13363). Random: kappa, exactly if
/// the schedule knows it, else from `samples` rounds. The estimate takes the worst direction from
/// up to 500 rounds of the first half and the mean of its squared contraction over the second:
/// unbiased for that direction, so it approaches kappa from below; the result has a standard error.
ScheduleRate schedule_rate(const MixingSchedule& schedule, int samples = 4000);

/// The estimate alone.
ScheduleRate estimated_rate(const MixingSchedule& schedule, int samples);

}  // namespace gv
