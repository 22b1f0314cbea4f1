#include "peer/fleet/step_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gv {

std::vector<double> gradient_rates(std::span<const PeerSpec> peers) {
  std::vector<double> rates;
  for (const PeerSpec& peer : peers) rates.push_back(peer.speed / peer.batch);
  return rates;
}

std::optional<std::uint32_t> least_mean_steps(std::span<const double> rates) {
  constexpr double rounding =
      1e-9;  // the mean of 0.1, 0.1 and 0.1 over 0.1 is 1, not a little more
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double mean = sum / static_cast<double>(rates.size()) / std::ranges::min(rates);
  const double least = std::ceil(mean * (1 - rounding));
  if (!(least <= most_local_steps)) return std::nullopt;
  return static_cast<std::uint32_t>(std::max(1.0, least));
}

}  // namespace gv
