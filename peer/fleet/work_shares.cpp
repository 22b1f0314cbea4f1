#include "peer/fleet/work_shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gv {

std::optional<std::vector<std::uint32_t>> batch_shares(std::span<const double> speeds,
                                                       std::uint32_t mean) {
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const std::uint64_t total = std::uint64_t{mean} * speeds.size();
  std::vector<std::uint32_t> batches;
  std::vector<double> remainders;
  std::uint64_t left = total;
  for (const double speed : speeds) {
    const double exact = speed / sum * static_cast<double>(total);
    batches.push_back(static_cast<std::uint32_t>(exact));
    remainders.push_back(exact - std::floor(exact));
    left -= batches.back();
  }
  std::vector<std::size_t> order(speeds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return remainders[i]; });
  for (std::size_t k = 0; k < left; ++k) ++batches[order[k % order.size()]];
  if (std::ranges::min(batches) == 0) return std::nullopt;
  return batches;
}

double largest_share(std::span<const double> speeds, std::uint32_t mean) {
  const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  const double total = static_cast<double>(mean) * static_cast<double>(speeds.size());
  return std::ranges::max(speeds) / sum * total;
}

double noise_of_unequal(std::span<const std::uint32_t> batches) {
  double sum = 0;
  double inverse = 0;
  for (const std::uint32_t batch : batches) {
    sum += batch;
    inverse += 1.0 / batch;
  }
  const auto n = static_cast<double>(batches.size());
  return sum / n * inverse / n;
}

std::vector<double> gradient_rates(std::span<const PeerSpec> peers) {
  std::vector<double> rates;
  for (const PeerSpec& peer : peers) rates.push_back(peer.speed / peer.batch);
  return rates;
}

std::optional<std::uint32_t> least_mean_steps(std::span<const double> rates) {
  constexpr double rounding = 1e-9;  // the mean of 0.1, 0.1, 0.1 over 0.1 may exceed 1 slightly
  const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
  const double mean = sum / static_cast<double>(rates.size()) / std::ranges::min(rates);
  const double least = std::ceil(mean * (1 - rounding));
  if (!(least <= most_local_steps)) return std::nullopt;
  return static_cast<std::uint32_t>(std::max(1.0, least));
}

}  // namespace gv
