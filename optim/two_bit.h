#pragma once

#include <cstddef>
#include <span>

#include "optim/codec.h"

namespace gv {

// Codec::Kind::two_bit. As bytes, for each block of `two_bit_block` values, of which k are kept:
//
//   float32 low, float32 high: the two sizes
//   k entries of 14 bits, the least significant first: index in the block (12 bits), ascending; 1
//     for below zero; 1 for high
//   zeros up to a whole byte

/// Returns the bytes of n floats encoded.
std::size_t two_bit_bytes(const Codec& codec, std::size_t n);
void encode_two_bit(const Codec& codec, std::span<const float> values, std::span<std::byte> out);
/// Returns whether bytes of the right number are an encoding of n floats.
bool is_two_bit(const Codec& codec, std::span<const std::byte> in, std::size_t n);
void decode_two_bit(const Codec& codec, std::span<const std::byte> in, std::span<float> values);

}  // namespace gv
