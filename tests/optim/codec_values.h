#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "optim/codec/codec.h"
#include "optim/rng.h"

namespace gv {

using Bytes = std::vector<std::byte>;
using Floats = std::vector<float>;

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float most = std::numeric_limits<float>::max();
inline constexpr float least = std::numeric_limits<float>::denorm_min();

inline constexpr Codec fp16{Codec::Kind::fp16};
inline constexpr Codec bf16{Codec::Kind::bf16};
inline constexpr Codec int8{Codec::Kind::int8};
constexpr Codec top_k(double fraction) {
  return {Codec::Kind::top_k, fraction};
}

inline Bytes encoded(const Codec& codec, const Floats& values) {
  Bytes bytes(codec.bytes(values.size()));
  encode(codec, values, bytes);
  return bytes;
}

inline Floats decoded(const Codec& codec, const Bytes& bytes, std::size_t n) {
  Floats values(n);
  decode(codec, bytes, values);
  return values;
}

inline Floats there_and_back(const Codec& codec, const Floats& values) {
  return decoded(codec, encoded(codec, values), values.size());
}

/// Returns n normal values, each times 2^k for a k drawn from low to high - 1.
inline Floats of_all_sizes(std::size_t n, std::uint64_t seed, int low, int high) {
  Floats values(n);
  Rng rng(seed);
  rng.fill_normal(values);
  for (float& value : values)
    value = std::ldexp(value, low + static_cast<int>(rng.below(static_cast<unsigned>(high - low))));
  return values;
}

}  // namespace gv
