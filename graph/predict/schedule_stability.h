#pragma once

#include <optional>

#include "graph/predict/stable_rates.h"
#include "graph/schedule/schedule.h"

namespace gv {

/// stable_rates for schedules whose matrices share no modes. One W that is not normal has the
/// stable rates of its eigenvalues. Else it is the rate up to which a disagreement along the
/// schedule's own sequence shrinks. In Lian's order (arXiv:1705.09056, Algorithm 1) a round is x <-
/// (W_t - gamma h) x; the limit is where the norm of such products turns from falling to growing
/// (their Lyapunov exponent; of a periodic sequence the spectral radius of a period), found on some
/// 1,000 rounds, to 5e-4 / max h, from below. So it speaks of the sequence, neither of its worst W,
/// which would only be sufficient (MATCHA's may expand by itself), nor of the expectation: of a
/// random one it is known within a few percent, and not below the limit in the mean square. In the
/// orders atc and cta only the step counts: 2 / max h. fleet.rate is not looked at. Empty for other
/// orders, momentum, local steps and old neighbours. O(n deg) per round and probed rate.
std::optional<StableRates> schedule_stable_rates(const MixingSchedule& schedule,
                                                 const QuadraticFleet& fleet);

}  // namespace gv
