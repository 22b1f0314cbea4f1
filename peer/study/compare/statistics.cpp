#include "peer/study/compare/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "peer/study/compare/student_t.h"

namespace gv {
namespace {

MeanInterval moments_of(std::span<const double> values) {
  MeanInterval m;
  m.n = values.size();
  m.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(m.n);
  double squares = 0;
  for (const double value : values) squares += (value - m.mean) * (value - m.mean);
  m.deviation = std::sqrt(squares / static_cast<double>(m.n - 1));
  // Equal values differ from their mean by its rounding alone.
  const double noise = 4 * std::numeric_limits<double>::epsilon() * std::abs(m.mean);
  if (m.deviation <= noise) m.deviation = 0;
  return m;
}

double error_of(const MeanInterval& m) {
  return m.deviation / std::sqrt(static_cast<double>(m.n));
}

}  // namespace

std::optional<MeanInterval> mean_interval(std::span<const double> values, double covers) {
  if (values.size() < fewest_seeds) return std::nullopt;
  MeanInterval m = moments_of(values);
  const double t = student_t_quantile((1 + covers) / 2, static_cast<double>(m.n - 1));
  m.low = m.mean - t * error_of(m);
  m.high = m.mean + t * error_of(m);
  return m;
}

double mean_is_zero(std::span<const double> values) {
  if (values.size() < fewest_seeds) return 1;
  const MeanInterval m = moments_of(values);
  if (m.deviation == 0) return m.mean == 0 ? 1 : 0;
  return student_t_two_sided(m.mean / error_of(m), static_cast<double>(m.n - 1));
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return p_values[k]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double times = static_cast<double>(order.size() - k);
    largest = std::max(largest, std::min(1.0, times * p_values[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

bool equivalent(std::span<const double> values, double margin) {
  const auto interval = mean_interval(values, 0.9);
  return interval && interval->low > -margin && interval->high < margin;
}

std::optional<double> sign_flip(std::span<const double> values) {
  constexpr std::size_t most = 20;
  if (values.empty() || values.size() > most) return std::nullopt;
  double all = 0;
  double size = 0;
  for (const double value : values) {
    all += value;
    size += std::abs(value);
  }
  // Sums of the same numbers in another order differ in their last bits.
  const double far = std::abs(all) - 1e-12 * size;
  std::size_t count = 0;
  const std::size_t choices = std::size_t{1} << values.size();
  for (std::size_t signs = 0; signs < choices; ++signs) {
    double sum = 0;
    for (std::size_t k = 0; k < values.size(); ++k)
      sum += (signs >> k & 1U) != 0 ? -values[k] : values[k];
    if (std::abs(sum) >= far) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(choices);
}

std::optional<std::size_t> values_needed(const MeanInterval& seen, std::size_t most) {
  if (seen.mean == 0) return std::nullopt;
  const auto tells = [&](std::size_t n) {
    const auto freedom = static_cast<double>(n - 1);
    const double needed = student_t_quantile(0.975, freedom) + student_t_quantile(0.8, freedom);
    return std::abs(seen.mean) >= needed * seen.deviation / std::sqrt(static_cast<double>(n));
  };
  if (!tells(most)) return std::nullopt;
  // What so many values tell, more of them tell too.
  std::size_t low = fewest_seeds;
  std::size_t high = most;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    tells(middle) ? high = middle : low = middle + 1;
  }
  return low;
}

}  // namespace gv
