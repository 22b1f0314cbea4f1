#pragma once

#include <cstddef>
#include <span>

#include "optim/train/replica.h"

namespace gv {

/// Number of floats that fit the first-level cache together with their gradient: mixing and
/// stepping by blocks of this size is one pass over memory.
inline constexpr std::size_t mixing_block = 2048;

/// Checks that each flow has a weight and `count` floats.
void check_flows(const Flows& flows, std::size_t count);

/// x <- x + sum_j w_j (x_j - ours_j) for a block of at most mixing_block floats, which begins at
/// `at` of the flows' range; ours_j is x if it is not given. The flows of one element are summed in
/// the order of the neighbours and then added: the order fixes the bits, and w (x_j - x_i) is
/// bitwise the opposite of w (x_i - x_j). A flow that is not finite is skipped; `bad` gets the
/// indices of flows with such values.
void mix_block(std::span<float> x, const Flows& flows, std::size_t at, NotFinite& bad);

/// x <- x + w (theirs - ours), skipping values that are not finite; all three have equal length.
/// Returns false if theirs had values that are not finite.
bool add_flow(std::span<float> x,
              float w,
              std::span<const float> theirs,
              std::span<const float> ours);

/// v <- factor v; exactly 0 if the factor is 0, even for values that are not finite.
void scale(std::span<float> v, float factor);

/// to <- a from + b to; exactly a from if b is 0. from and to have equal length, and may be the
/// same.
void axpby(float a, std::span<const float> from, float b, std::span<float> to);

}  // namespace gv
