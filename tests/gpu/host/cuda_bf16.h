#pragma once
#include <bit>
#include <cstdint>
struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  const auto b = std::bit_cast<std::uint32_t>(x);
  if ((b & 0x7FFFFFFFU) > 0x7F800000U) return {0x7FFF};
  return {static_cast<std::uint16_t>((b + 0x7FFFU + (b >> 16 & 1U)) >> 16)};
}
inline float __bfloat162float(__nv_bfloat16 v) {
  return std::bit_cast<float>(std::uint32_t{v.bits} << 16);
}
/// Rounds a factor as tensor cores read a float: to ten bits of mantissa.
inline float gv_host_tf32(float x) {
  const auto b = std::bit_cast<std::uint32_t>(x);
  if ((b & 0x7F800000U) == 0x7F800000U) return x;
  return std::bit_cast<float>((b + 0xFFFU + (b >> 13 & 1U)) & ~0x1FFFU);
}
