#pragma once

#include <optional>
#include <vector>

#include "graph/predict/quadratic.h"
#include "graph/schedule/schedule.h"

namespace gv {

/// Open interval of rates between `low` and `high`.
struct RateWindow {
  double low = 0, high = 0;
  bool contains(double rate) const { return low < rate && rate < high; }
};

/// All rates at which every mode is stable: windows in ascending order, apart from each other.
struct StableRates {
  std::vector<RateWindow> windows;

  bool contains(double rate) const;
  /// Returns the end of the first window, which need not begin at 0; 0 if no rate is stable.
  double limit() const { return windows.empty() ? 0 : windows.front().high; }
};

/// Returns one window from 0 to (1 + lambda_n) / max h in Lian's order (arXiv:1705.09056), and none
/// beyond 2 / max h without momentum. The set need not begin at 0: a mode of d2 is stable if gamma
/// h is below 2 and, with lambda < -1/3, above (3 - 1 / |lambda|) / 2; led and gut have such modes
/// too. Nor need it be an interval: with momentum and local steps a mode turns by several
/// half-circles in a round, and the trace of its round repeatedly crosses the limits of stability
/// (Jury 1964). Ignores fleet.rate.
StableRates stable_rates(const Modes& modes, const QuadraticFleet& fleet);

/// Returns the stable rates of schedules whose matrices share no modes. For a single W that is not
/// normal its eigenvalues determine them. Otherwise the limit is the largest rate at which a
/// disagreement shrinks along the schedule's own sequence. In Lian's order (arXiv:1705.09056,
/// Algorithm 1) a round is x <- (W_t - gamma h) x. The limit is the rate at which the Lyapunov
/// exponent of the products changes sign (for a periodic sequence, the spectral radius of a period
/// passes 1). It is measured over about 1,000 rounds and rounded down to 5e-4 / max h; for a random
/// sequence it is known within a few percent. The worst W would give a sufficient limit only,
/// because one of MATCHA's may expand by itself. In the orders atc and cta the limit is 2 / max h.
/// Ignores fleet.rate. Returns nothing for other orders, momentum, local steps and stale
/// neighbours. O(n deg) per round and probed rate.
std::optional<StableRates> schedule_stable_rates(const MixingSchedule& schedule,
                                                 const QuadraticFleet& fleet);

}  // namespace gv
