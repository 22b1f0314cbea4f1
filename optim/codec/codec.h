#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gv {

/// An encoding of floats in fewer bytes, little-endian.
///
/// For a value x and its decoded value x':
/// - fp16: |x - x'| <= 2^-11 |x| from 2^-14 to 65504, <= 2^-25 below; from 65520 on infinite.
///   IEEE 754-2019, binary16. 2 bytes each.
/// - bf16: |x - x'| <= 2^-8 |x| for normal x; at the top of the range it rounds to infinity.
///   Kalamkar et al. 2019, "A study of BFLOAT16 for deep learning training", arXiv:1905.12322.
///   2 bytes each.
/// - int8: in blocks of 256, |x - x'| <= max|block| / 127 (1 + 2^-14), and about 0 on average;
///   below max|block| = 2^-119 within max|block|. Stochastic rounding: each is rounded up with the
///   probability of its fractional part, Alistarh et al. 2017, "QSGD", arXiv:1610.02132; the draws
///   are a hash of the block's values, so equal blocks are rounded equally. A block with a value
///   that is not finite becomes NaN, so that mixing refuses it. Dettmers et al. 2022, "8-bit
///   optimizers via block-wise quantization", arXiv:2110.02861 (linear codes here, theirs are
///   dynamic). A float32 per block, then a byte each.
/// - top_k: the k largest by |x|, ties to the lower index, exactly; the others become 0:
///   |x - x'|^2 <= (1 - k/n) |x|^2 over the vector. Stich, Cordonnier & Jaggi 2018, "Sparsified SGD
///   with memory", arXiv:1809.07599, definition 2.1. NaN and infinity are the largest. 8 bytes each
///   of the k: its index (uint32), ascending, and its value.
/// - random_k: one value drawn from each of k equal strata of the indices, exactly; the others
///   become 0: |x - x'|^2 is (1 - k/n) |x|^2 on average. Both ends draw the indices from the seed
///   that travels, a hash of the values or `draw`; Stich et al. 2018 as above. A uint64, then 4
///   bytes each of the k.
/// - sign: x' = s sign(x), s = mean |x|, and + for 0: |x - x'|^2 = (1 - |x|_1^2 / (n |x|^2)) |x|^2.
///   Karimireddy, Rebjock, Stich & Jaggi 2019, "Error feedback fixes SignSGD", arXiv:1901.09847. A
///   vector with a value that is not finite becomes NaN. A float32, then a bit each, 1 for below 0.
/// - two_bit: in blocks of 4096, the k largest by |x| as in top_k, each as its sign and one of
///   two sizes; the others become 0. The sizes are the means of |x| over those of the k that are
///   above the mean of all k, and over the rest, so that |x - x'|^2 <= |x|^2 - |kept|_1^2 / k over
///   the block, up to the roundings of the two. If one of the k is not finite, all k become NaN.
///   Lidin et al. 2026, "Covenant-72B", arXiv:2603.08163, has the same blocks, indices of 12 bits
///   and 2 bits a value; its code has four bins by standard deviations from the mean, one with both
///   signs possible, while ours is a contraction for all values. 8 bytes per block and 14 bits each
///   of the k (codec_arithmetic.h).
struct Codec {
  enum class Kind : std::uint8_t { fp16, bf16, int8, top_k, random_k, sign, two_bit };
  Kind kind = Kind::fp16;
  double fraction = 0.01;  ///< top_k, random_k, two_bit: k / n, in (0, 1]
  std::uint64_t draw = 0;  ///< random_k: seed of the encoder; 0 for a hash of the values
  bool operator==(const Codec&) const = default;

  /// Returns whether every value arrives approximately; if not, a method must compensate for the
  /// rest.
  bool dense() const { return kind <= Kind::int8; }
  bool keeps_some() const {
    return kind == Kind::top_k || kind == Kind::random_k || kind == Kind::two_bit;
  }
  /// k of n: fraction n to the nearest, at least one.
  std::size_t kept(std::size_t n) const;
  /// Returns the bytes of n floats encoded.
  std::size_t bytes(std::size_t n) const;
};

/// The words for the kinds in a fleet file, in the order of Kind.
std::vector<std::string> codec_words();
/// Formats the codec as in a fleet file: "int8", "{ kind: top-k, fraction: 0.1 }".
std::string to_string(const Codec& codec);
/// Returns the kind of a word; throws std::invalid_argument for unknown words.
Codec::Kind codec_kind(const std::string& word);

inline constexpr std::size_t int8_block = 256;
inline constexpr std::size_t two_bit_block = 4096;

/// An element that top_k keeps.
struct Kept {
  std::uint32_t index;
  float value;
};

/// out <- values encoded; out.size() == codec.bytes(values.size()). top_k: below 2^32 values.
void encode(const Codec& codec, std::span<const float> values, std::span<std::byte> out);

/// Returns whether these untrusted bytes can be decoded into n floats.
bool is_encoding(const Codec& codec, std::span<const std::byte> in, std::size_t n);

/// Returns the seed from which the indices of a random_k encoding are drawn.
std::uint64_t drawn_from(std::span<const std::byte> in);

/// values <- in decoded; requires is_encoding(codec, in, values.size()).
void decode(const Codec& codec, std::span<const std::byte> in, std::span<float> values);

}  // namespace gv
