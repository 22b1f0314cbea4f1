#pragma once

#include <cstddef>
#include <span>

#include "optim/train/replica.h"

namespace gv {

/// Floats that fit the first-level cache together with their gradient: mixing and stepping by
/// blocks of this size is one pass over memory.
inline constexpr std::size_t mixing_block = 2048;

/// Checks that each flow has a weight and fills a range of `count` floats.
void check_flows(const Flows& flows, std::size_t count);

/// x <- x + sum_j w_j (x_j - ours_j) for a block of at most mixing_block floats, which begins at
/// `at` of the range that the flows fill; ours_j is x where nothing else was given. The flows of
/// one element are summed in the order of the neighbours and then added: the order fixes the bits,
/// and w (x_j - x_i) is bitwise the opposite of w (x_i - x_j). A flow that is not finite counts
/// nothing; `bad` gets who sent a value that is not.
void mix_block(std::span<float> x, const Flows& flows, std::size_t at, NotFinite& bad);

/// x <- x + w (theirs - ours), without what is not finite; all three are equally long. False:
/// theirs held values that are not finite.
bool add_flow(std::span<float> x,
              float w,
              std::span<const float> theirs,
              std::span<const float> ours);

/// v <- factor v, and 0 where the factor is 0, whatever stood there.
void scale(std::span<float> v, float factor);

/// to <- a from + b to, and a from where b is 0; from and to are equally long, or the same.
void axpby(float a, std::span<const float> from, float b, std::span<float> to);

}  // namespace gv
