#pragma once

#include <optional>

#include "graph/predict/stable_rates.h"
#include "graph/schedule/schedule.h"

namespace gv {

/// Returns the stable rates of schedules whose matrices share no modes. One W that is not normal
/// has those of its eigenvalues. Otherwise the limit is the largest rate at which a disagreement
/// shrinks along the schedule's own sequence. In Lian's order (arXiv:1705.09056, Algorithm 1) a
/// round is x <- (W_t - gamma h) x. The limit is the rate at which the Lyapunov exponent of these
/// products changes sign (for a periodic sequence, the spectral radius of a period passes 1). It is
/// measured over about 1,000 rounds and rounded down to 5e-4 / max h; for a random sequence it is
/// known within a few percent. The worst W would give a sufficient limit only, because one of
/// MATCHA's may expand by itself. In the orders atc and cta the limit is 2 / max h. Ignores
/// fleet.rate. Returns nothing for other orders, momentum, local steps and stale neighbours. O(n
/// deg) per round and probed rate.
std::optional<StableRates> schedule_stable_rates(const MixingSchedule& schedule,
                                                 const QuadraticFleet& fleet);

}  // namespace gv
