#include "graph/predict/rate_course.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gv {
namespace {

constexpr double alike = 0.05;     ///< of a stretch's largest rate: how much it may differ
constexpr double nothing = 0.001;  ///< of the run's largest rate: what makes no difference

}  // namespace

RateCourse::RateCourse(double rate, double momentum)
    : RateCourse([rate](std::uint64_t) { return rate; }, 1, momentum) {}

RateCourse::RateCourse(const std::function<double(std::uint64_t)>& rate,
                       std::uint64_t rounds,
                       double momentum)
    : momentum_(momentum) {
  for (std::uint64_t t = 0; t < std::max<std::uint64_t>(1, rounds); ++t) rates_.push_back(rate(t));
  const bool same = std::ranges::all_of(rates_, [&](double r) { return r == rates_[0]; });
  if (same) rates_.resize(1);
  largest_ = std::ranges::max(rates_);
  double sum = 0;
  double left = 1;  // beta^t
  for (const double r : rates_) {
    left *= momentum;
    sum += r * (1 - left) / (1 - momentum);
    times_.push_back(sum);
  }
}

double RateCourse::rate(std::uint64_t round) const {
  return rates_[std::min<std::uint64_t>(round, rates_.size() - 1)];
}

double RateCourse::time(std::uint64_t rounds) const {
  if (rounds == 0) return 0;
  if (rounds <= times_.size()) return times_[rounds - 1];
  // The last rate stays, and momentum continues to build up.
  const auto known = static_cast<double>(times_.size());
  const auto all = static_cast<double>(rounds);
  const double missing =
      (std::pow(momentum_, known + 1) - std::pow(momentum_, all + 1)) / (1 - momentum_);
  return times_.back() + rates_.back() / (1 - momentum_) * (all - known - missing);
}

std::uint64_t RateCourse::rounds_until(double wanted) const {
  if (!(wanted > 0)) return 0;
  const double least = wanted * (1 - 1e-6);
  std::uint64_t high = 1;
  while (time(high) < least && high < (std::uint64_t{1} << 60)) high *= 2;
  std::uint64_t low = 0;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (time(middle) < least ? low : high) = middle;
  }
  return high;
}

void RateCourse::divide(std::uint64_t begin,
                        std::uint64_t end,
                        std::uint64_t unit,
                        std::vector<RateStretch>& found) const {
  const auto last = rates_.size() - 1;
  const auto from = rates_.begin() + static_cast<std::ptrdiff_t>(std::min(begin, last));
  const auto to = rates_.begin() + static_cast<std::ptrdiff_t>(std::min(end - 1, last)) + 1;
  const auto [least, most] = std::minmax_element(from, to);
  if (*most - *least > std::max(alike * *most, nothing * largest_) && end - begin > unit) {
    const std::uint64_t middle =
        begin + std::max<std::uint64_t>(1, (end - begin) / unit / 2) * unit;
    divide(begin, middle, unit, found);
    divide(middle, end, unit, found);
    return;
  }
  const double known = static_cast<double>(to - from);
  const double beyond = static_cast<double>(end - begin) - known;
  const double sum = std::accumulate(from, to, 0.0) + beyond * rates_.back();
  found.push_back({sum / static_cast<double>(end - begin), end - begin});
}

std::vector<RateStretch> RateCourse::stretches(std::uint64_t rounds, std::uint64_t unit) const {
  std::vector<RateStretch> found;
  const std::uint64_t whole = rounds / unit * unit;
  if (whole > 0) divide(0, whole, unit, found);
  return found;
}

}  // namespace gv
