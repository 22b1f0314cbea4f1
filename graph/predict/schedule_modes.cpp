#include "graph/predict/schedule_modes.h"

#include <cmath>
#include <numbers>

#include "graph/schedule/equi_topo.h"

namespace gv {
namespace {

/// W is a projection in every round, so its mean is its mean square.
Modes matching_modes(PeerId n) {
  const double kappa = *make_schedule(parse_schedule("random-matching"), n)->contraction();
  return {n, {{{{kappa}, n - 1.0, kappa - kappa * kappa}}}, {}, "expectation"};
}

/// lambda_m = (1 - s) + s w^(a m), s = eta (n - 1) / n, a drawn from the shifts.
Modes equi_dyn_modes(const ScheduleSpec& spec, PeerId n) {
  const double s = spec.eta * (n - 1.0) / n;
  const std::vector<PeerId> shifts = equi_dyn_shifts(n, spec.shifts, spec.seed);
  std::vector<Mode> modes;
  for (PeerId m = 1; m < n; ++m) {
    std::complex<double> mean = 0;
    for (const PeerId a : shifts) {
      const auto turn = static_cast<double>(std::uint64_t{a} * m % n);
      mean += std::polar(1.0, 2 * std::numbers::pi * turn / n);
    }
    mean /= static_cast<double>(shifts.size());
    // |lambda - E lambda|^2 = s^2 |w^(a m) - mean|^2, and |w| = 1.
    modes.push_back({{1 - s + s * mean}, 1, s * s * (1 - std::norm(mean))});
  }
  return {n, {std::move(modes)}, {}, "expectation"};
}

}  // namespace

std::optional<Modes> schedule_modes(const ScheduleSpec& spec, PeerId n) {
  if (spec.kind == "one-peer-exponential") return one_peer_exponential_modes(n);
  if (spec.kind == "random-matching") return matching_modes(n);
  const double work = spec.shifts == 0 ? n : spec.shifts;
  if (spec.kind == "od-equi-dyn" && n > 1 && work * n < 1e8) return equi_dyn_modes(spec, n);
  return std::nullopt;
}

}  // namespace gv
