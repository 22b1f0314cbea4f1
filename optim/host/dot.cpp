#include "optim/host/dot.h"

#include <algorithm>
#include <array>
#include <cstring>
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

/// Four at a time on every processor: the compiler makes one or more instructions from each
/// operation, and the order of the sum is as written here.
using Doubles [[gnu::vector_size(32)]] = double;
using Floats [[gnu::vector_size(16)]] = float;
constexpr std::size_t each = 4;

Doubles doubles_at(const float* at) {
  Floats floats;
  std::memcpy(&floats, at, sizeof floats);
  return __builtin_convertvector(floats, Doubles);
}

}  // namespace

double dot(std::span<const float> a, std::span<const float> b) {
  GV_CHECK_EQUAL(a.size(), b.size(), "vectors of one length");
  std::vector<double> sums;
  for (std::size_t from = 0; from < a.size(); from += dot_segment) {
    const std::size_t count = std::min(dot_segment, a.size() - from);
    const float* left = a.data() + from;
    const float* right = b.data() + from;
    sums.push_back(sum_of_lanes(count, [=](std::size_t k) {
      return static_cast<double>(left[k]) * static_cast<double>(right[k]);
    }));
  }
  return sum_of_lanes(sums.size(), [&](std::size_t k) { return sums[k]; });
}

double square_distance(std::span<const float> a, std::span<const float> b) {
  GV_CHECK_EQUAL(a.size(), b.size(), "vectors of one length");
  std::array<Doubles, distance_lanes / each> sums{};
  std::size_t k = 0;
  for (; k + distance_lanes <= a.size(); k += distance_lanes) {
    for (std::size_t s = 0; s < sums.size(); ++s) {
      const Doubles apart =
          doubles_at(a.data() + k + s * each) - doubles_at(b.data() + k + s * each);
      sums[s] += apart * apart;
    }
  }
  for (std::size_t t = 0; k + t < a.size(); ++t) {
    const double apart = static_cast<double>(a[k + t]) - static_cast<double>(b[k + t]);
    sums[t / each][t % each] += apart * apart;
  }
  const Doubles four = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  return (four[0] + four[1]) + (four[2] + four[3]);
}

}  // namespace gv
