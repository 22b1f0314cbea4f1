#include "graph/predict/schedule_stability.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "graph/predict/scalar_round.h"
#include "graph/predict/sequence_walk.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topology/splitmix.h"

namespace gv {
namespace {

using Numbers = std::vector<double>;

constexpr std::size_t n_probes = 65;  ///< steps gamma h looked at together
constexpr int n_passes = 2;           ///< the second between two of the first: 2 / 64^2
constexpr std::uint64_t least_rounds = 1000;

/// Makes each column's mean 0 and returns the columns' norms.
Numbers norms_off_the_mean(PeerRows& x) {
  const auto n = static_cast<double>(x.size());
  Numbers mean(n_probes);
  Numbers square(n_probes);
  for (const Numbers& row : x)
    for (std::size_t k = 0; k < n_probes; ++k) mean[k] += row[k] / n;
  for (Numbers& row : x) {
    for (std::size_t k = 0; k < n_probes; ++k) {
      row[k] -= mean[k];
      square[k] += row[k] * row[k];
    }
  }
  for (double& s : square) s = std::sqrt(s);
  return square;
}

/// The sum over the rounds of the logarithm by which a disagreement grows, after as many rounds to
/// turn it into the direction that grows most; for each of the steps.
Numbers growth(const MixingSchedule& schedule, const Numbers& steps, std::uint64_t rounds) {
  std::vector<MixingMatrix> period;
  for (std::uint64_t t = 0; t < schedule.period(); ++t) period.push_back(schedule.matrix(t));
  PeerRows x(schedule.size(), Numbers(n_probes));
  SplitMix rng(schedule.size());
  for (Numbers& row : x) row.assign(n_probes, rng.uniform() - 0.5);
  Numbers sum(n_probes);
  for (std::uint64_t t = 0; t < 2 * rounds; ++t) {
    PeerRows next = mixed(period.empty() ? schedule.matrix(t) : period[t % period.size()], x);
    for (std::size_t i = 0; i < next.size(); ++i)
      for (std::size_t k = 0; k < n_probes; ++k) next[i][k] -= steps[k] * x[i][k];
    const Numbers norms = norms_off_the_mean(next);
    for (std::size_t k = 0; k < n_probes; ++k) {
      const double norm = std::max(norms[k], 1e-300);  // 0: exact averaging
      if (t >= rounds) sum[k] += std::log(norm);
      for (Numbers& row : next) row[k] /= norm;
    }
    x.swap(next);
  }
  return sum;
}

/// Returns the largest step gamma h, at most 2, up to which no disagreement grows.
double largest_step(const MixingSchedule& schedule) {
  const std::uint64_t period = std::max<std::uint64_t>(1, schedule.period());
  const std::uint64_t rounds = (least_rounds + period - 1) / period * period;
  double low = 0;
  double width = 2;
  for (int pass = 0; pass < n_passes; ++pass) {
    width /= n_probes - 1;
    Numbers steps;
    for (std::size_t k = 0; k < n_probes; ++k)
      steps.push_back(low + width * static_cast<double>(k));
    const Numbers sums = growth(schedule, steps, rounds);
    // The first is known to shrink (or is 0, where nothing need to).
    const auto grows = std::find_if(sums.begin() + 1, sums.end(), [](double s) { return s >= 0; });
    if (grows == sums.end()) return steps.back();
    low = steps[static_cast<std::size_t>(grows - sums.begin()) - 1];
  }
  return low;
}

/// Returns the stable rates of one W by its eigenvalues, which suffice for a W that is not normal.
StableRates rates_of_eigenvalues(const MixingMatrix& w, const QuadraticFleet& fleet) {
  if (!w.directed()) return stable_rates(modes_of(w), fleet);
  std::vector<Mode> modes;
  for (const auto& value : directed_eigenvalues(w)) modes.push_back({{value}, 1});
  return stable_rates({w.size(), {std::move(modes)}, {}, "dense"}, fleet);
}

}  // namespace

std::optional<StableRates> schedule_stable_rates(const MixingSchedule& schedule,
                                                 const QuadraticFleet& fleet) {
  if (schedule.period() == 1) return rates_of_eigenvalues(schedule.matrix(0), fleet);
  if (!has_scalar_rounds(fleet)) return std::nullopt;
  const bool by_step = fleet.order != "lian" || schedule.size() < 2;
  const double step = by_step ? 2 : largest_step(schedule);
  if (step == 0) return StableRates{};
  return StableRates{{{0, step / *std::ranges::max_element(fleet.hessian)}}};
}

}  // namespace gv
