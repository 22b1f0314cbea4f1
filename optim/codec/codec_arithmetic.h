#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "optim/codec/codec.h"

// The arithmetic of the codecs of optim/codec/codec.h on one element, as constant expressions,
// which compilers for devices accept too: the bytes are equal on every device. No operation here
// can be contracted into a fused multiply-add that would change a bit.

namespace gv {

/// |x| as an integer: ordered as |x| is, infinity above every number, NaN above infinity.
constexpr std::uint32_t magnitude(float x) {
  return std::bit_cast<std::uint32_t>(x) & 0x7FFF'FFFFU;
}
inline constexpr std::uint32_t infinite_magnitude = 0x7F80'0000U;
/// The NaN that is written for values that are not finite, with fixed bits on all devices.
inline constexpr float written_nan = std::bit_cast<float>(0x7FC0'0000U);

/// binary16 of IEEE 754-2019, to the nearest, ties to even: from 65520 on infinity, below 2^-14
/// subnormal. A NaN stays one, quiet, with its sign.
constexpr std::uint16_t to_half(float x) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(x) >> 16 & 0x8000U;
  const std::uint32_t a = magnitude(x);
  std::uint32_t half = 0;
  if (a > infinite_magnitude) {
    half = 0x7E00U | (a >> 13 & 0x3FFU);
  } else if (a >= 0x477F'F000U) {  // 65520, halfway from the greatest number to the next
    half = 0x7C00U;
  } else if (a >= 0x3880'0000U) {  // 2^-14, the least normal number
    half = (a + 0xFFFU + (a >> 13 & 1U) - (112U << 23)) >> 13;
  } else {  // in units of 2^-24, the last place of 0.5F
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(a) + 0.5F) - 0x3F00'0000U;
  }
  return static_cast<std::uint16_t>(sign | half);
}

/// Exact.
constexpr float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1FU;
  const std::uint32_t fraction = half & 0x3FFU;
  std::uint32_t a = 0;
  if (exponent == 31) {
    a = infinite_magnitude | fraction << 13;
  } else if (exponent > 0) {
    a = (exponent + 112) << 23 | fraction << 13;
  } else {
    a = std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24F);
  }
  return std::bit_cast<float>(sign | a);
}

/// bfloat16, the upper half of a float: to the nearest, ties to even. A NaN stays one, quiet.
constexpr std::uint16_t to_bfloat(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if (magnitude(x) > infinite_magnitude) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

/// Exact.
constexpr float from_bfloat(std::uint16_t bfloat) {
  return std::bit_cast<float>(std::uint32_t{bfloat} << 16);
}

/// The scale of a block with this largest magnitude, 1/127 as large; NaN if it is not finite.
constexpr float int8_scale(std::uint32_t largest) {
  if (largest >= infinite_magnitude) return written_nan;
  return std::bit_cast<float>(largest) / 127.0F;
}

/// Returns the summand of value x at place k of a block in the block's seed. The sum wraps around,
/// and is equal in every order.
constexpr std::uint32_t int8_seed_of(float x, std::uint32_t k) {
  return std::bit_cast<std::uint32_t>(x) * (2 * k + 1);
}

/// A number in (0, 1), drawn for place k: an odd multiple of 1 / 512. (The last steps of
/// MurmurHash3, by A. Appleby.)
constexpr float int8_draw(std::uint32_t seed, std::uint32_t k) {
  std::uint32_t h = seed + k * 0x9E37'79B9U;
  h = (h ^ h >> 16) * 0x85EB'CA6BU;
  h = (h ^ h >> 13) * 0xC2B2'AE35U;
  return static_cast<float>(h >> 24) * 0x1p-8F + 0x1p-9F;
}

/// Rounds x / scale down or up to an integer within +-127. Rounds up with the probability of the
/// fractional part if `draw` is uniform, so the mean is right. Keeps whole numbers. Returns 0 if
/// the scale is 0 or NaN.
constexpr std::int8_t to_int8(float x, float scale, float draw) {
  if (!(scale > 0)) return 0;
  const float quotient = x / scale;
  const float low = quotient < -127.0F ? -127.0F : quotient;
  const float within = low > 127.0F ? 127.0F : low;
  return static_cast<std::int8_t>(static_cast<std::int32_t>(within + (draw + 128.0F)) - 128);
}

/// scale times code, within the greatest floats; always the same NaN if the scale is not finite.
constexpr float from_int8(std::int8_t code, float scale) {
  if (magnitude(scale) >= infinite_magnitude) return written_nan;
  constexpr float most = std::numeric_limits<float>::max();
  const float value = scale * static_cast<float>(code);
  const float low = value < -most ? -most : value;
  return low > most ? most : low;
}

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
