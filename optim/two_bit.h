#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "optim/codec.h"
#include "optim/codec_arithmetic.h"

namespace gv {

// Codec::Kind::two_bit. Bytes of each block of `two_bit_block` values with k kept ones:
//
//   float32 low, float32 high: the two sizes
//   k entries of 14 bits, the least significant first: index in the block (12 bits), ascending; 1
//     if below zero; 1 if high
//   zeros up to a whole byte

/// Returns the bytes of n floats encoded.
std::size_t two_bit_bytes(const Codec& codec, std::size_t n);
void encode_two_bit(const Codec& codec, std::span<const float> values, std::span<std::byte> out);
/// Returns whether `in`, whose size is right, is an encoding of n floats.
bool is_two_bit(const Codec& codec, std::span<const std::byte> in, std::size_t n);
void decode_two_bit(const Codec& codec, std::span<const std::byte> in, std::span<float> values);

/// Calls at(index), ascending, for the k largest values by |x|; the first of equal values count.
/// NaN and infinity are the largest.
template <class At>
void for_largest(std::span<const float> values, std::size_t k, At at) {
  if (k == 0) return;
  std::vector<std::uint32_t> largest(values.size());
  std::ranges::transform(values, largest.begin(), magnitude);
  const auto last = largest.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(largest.begin(), last, largest.end(), std::greater<>());
  const std::uint32_t least = *last;
  const auto above =
      std::count_if(largest.begin(), last, [least](std::uint32_t a) { return a > least; });
  std::size_t ties = k - static_cast<std::size_t>(above);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t a = magnitude(values[i]);
    if (a < least || (a == least && ties == 0)) continue;
    if (a == least) --ties;
    at(i);
  }
}

}  // namespace gv
