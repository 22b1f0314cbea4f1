#pragma once

#include <cstddef>
#include <span>

namespace gv {

/// The order of the sum below, equal on all devices. Element k of a segment goes to lane k mod
/// dot_lanes; lanes are summed by halves: 0 with 128, 1 with 129, ..., then 0 with 64, ... The
/// segments' sums are summed as one more segment of the needed length.
inline constexpr std::size_t dot_segment = 4096;
inline constexpr std::size_t dot_lanes = 256;

/// sum_k a_k b_k in float64, in which a product of two floats is exact, so that the order alone
/// fixes the bits. a and b have equal length.
double dot(std::span<const float> a, std::span<const float> b);

/// The order of this sum, on the CPU: element k goes to lane k mod distance_lanes; lanes t, t + 4,
/// t + 8 and t + 12 are summed in pairs, and then these four.
inline constexpr std::size_t distance_lanes = 16;

/// sum_k (a_k - b_k)^2 in float64. Swapping a and b keeps the bits. a and b have equal length.
double square_distance(std::span<const float> a, std::span<const float> b);

}  // namespace gv
