#include "optim/dot.h"

#include <algorithm>
#include <array>
#include <vector>

#include "optim/check.h"

namespace gv {
namespace {

/// sum_k term(k), k < count, in the order of a segment.
template <class Term>
double sum_of_lanes(std::size_t count, Term term) {
  std::array<double, dot_lanes> lane{};
  std::size_t k = 0;
  for (; k + dot_lanes <= count; k += dot_lanes)
    for (std::size_t t = 0; t < dot_lanes; ++t) lane[t] += term(k + t);
  for (std::size_t t = 0; k + t < count; ++t) lane[t] += term(k + t);
  for (std::size_t half = dot_lanes / 2; half > 0; half /= 2)
    for (std::size_t t = 0; t < half; ++t) lane[t] += lane[t + half];
  return lane[0];
}

/// sum_k term(a_k, b_k), segment by segment.
template <class Term>
double sum_over(std::span<const float> a, std::span<const float> b, Term term) {
  GV_CHECK_EQUAL(a.size(), b.size(), "vectors of one length");
  std::vector<double> sums;
  for (std::size_t from = 0; from < a.size(); from += dot_segment) {
    const std::size_t count = std::min(dot_segment, a.size() - from);
    const float* left = a.data() + from;
    const float* right = b.data() + from;
    sums.push_back(sum_of_lanes(count, [=](std::size_t k) {
      return term(static_cast<double>(left[k]), static_cast<double>(right[k]));
    }));
  }
  return sum_of_lanes(sums.size(), [&](std::size_t k) { return sums[k]; });
}

}  // namespace

double dot(std::span<const float> a, std::span<const float> b) {
  return sum_over(a, b, [](double u, double v) { return u * v; });
}

double square_distance(std::span<const float> a, std::span<const float> b) {
  return sum_over(a, b, [](double u, double v) { return (u - v) * (u - v); });
}

}  // namespace gv
