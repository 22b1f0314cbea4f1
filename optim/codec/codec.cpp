#include "optim/codec/codec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "optim/check.h"
#include "optim/codec/codec_arithmetic.h"
#include "optim/rng.h"

namespace gv {
namespace {

static_assert(std::endian::native == std::endian::little, "encodings are little-endian");

/// Element k of an array of T in bytes that need not be aligned.
template <class T>
T get(std::span<const std::byte> in, std::size_t k) {
  T value;
  std::memcpy(&value, in.data() + k * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void put(std::span<std::byte> out, std::size_t k, T value) {
  std::memcpy(out.data() + k * sizeof(T), &value, sizeof(T));
}

template <class Convert>
void encode_words(std::span<const float> values, std::span<std::byte> out, Convert convert) {
  for (std::size_t k = 0; k < values.size(); ++k) put<std::uint16_t>(out, k, convert(values[k]));
}
template <class Convert>
void decode_words(std::span<const std::byte> in, std::span<float> values, Convert convert) {
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = convert(get<std::uint16_t>(in, k));
}

std::size_t blocks_of(std::size_t n) {
  return (n + int8_block - 1) / int8_block;
}

void encode_int8_block(std::span<const float> values,
                       std::span<std::byte> codes,
                       std::span<std::byte> scales,
                       std::size_t b) {
  const auto n = static_cast<std::uint32_t>(values.size());
  std::uint32_t largest = 0;
  std::uint32_t seed = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    largest = std::max(largest, magnitude(values[k]));
    seed += int8_seed_of(values[k], k);
  }
  const float scale = int8_scale(largest);
  put<float>(scales, b, scale);
  for (std::uint32_t k = 0; k < n; ++k)
    put(codes, k, to_int8(values[k], scale, int8_draw(seed, k)));
}

void encode_int8(std::span<const float> values, std::span<std::byte> out) {
  const std::span<std::byte> codes = out.subspan(blocks_of(values.size()) * sizeof(float));
  for (std::size_t b = 0; b < blocks_of(values.size()); ++b) {
    const std::size_t from = b * int8_block;
    const std::size_t end = std::min(from + int8_block, values.size());
    encode_int8_block(values.subspan(from, end - from), codes.subspan(from), out, b);
  }
}

void decode_int8(std::span<const std::byte> in, std::span<float> values) {
  const std::span<const std::byte> codes = in.subspan(blocks_of(values.size()) * sizeof(float));
  for (std::size_t b = 0; b < blocks_of(values.size()); ++b) {
    const auto scale = get<float>(in, b);
    const std::size_t end = std::min((b + 1) * int8_block, values.size());
    for (std::size_t k = b * int8_block; k < end; ++k)
      values[k] = from_int8(get<std::int8_t>(codes, k), scale);
  }
}

void encode_top_k(std::span<const float> values, std::size_t k, std::span<std::byte> out) {
  std::size_t done = 0;
  for_largest(values, k, [&](std::size_t at) {
    put<Kept>(out, done++, {static_cast<std::uint32_t>(at), values[at]});
  });
}

void decode_top_k(std::span<const std::byte> in, std::span<float> values) {
  std::ranges::fill(values, 0.0F);
  for (std::size_t j = 0; j < in.size() / sizeof(Kept); ++j) {
    const Kept kept = get<Kept>(in, j);
    values[kept.index] = kept.value;
  }
}

std::uint64_t hash_of(std::span<const float> values) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const float value : values)
    hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001b3U;
  return hash;
}

/// Calls at(j, index) for each of k strata of n indices.
template <class At>
void draw(std::uint64_t seed, std::size_t k, std::size_t n, At at) {
  Rng rng(seed);
  for (std::size_t j = 0; j < k; ++j) {
    const std::size_t begin = j * n / k;
    at(j, begin + rng.below((j + 1) * n / k - begin));
  }
}

void encode_random_k(std::span<const float> values,
                     std::size_t k,
                     std::uint64_t drawn,
                     std::span<std::byte> out) {
  const std::uint64_t seed = drawn != 0 ? drawn : hash_of(values);
  put<std::uint64_t>(out, 0, seed);
  const std::span<std::byte> kept = out.subspan(sizeof(seed));
  draw(seed, k, values.size(),
       [&](std::size_t j, std::size_t at) { put<float>(kept, j, values[at]); });
}

void decode_random_k(std::span<const std::byte> in, std::span<float> values) {
  const auto seed = get<std::uint64_t>(in, 0);
  const std::span<const std::byte> kept = in.subspan(sizeof(seed));
  std::ranges::fill(values, 0.0F);
  draw(seed, kept.size() / sizeof(float), values.size(),
       [&](std::size_t j, std::size_t at) { values[at] = get<float>(kept, j); });
}

void encode_sign(std::span<const float> values, std::span<std::byte> out) {
  double sum = 0;
  for (const float value : values) sum += std::abs(static_cast<double>(value));
  const auto n = static_cast<double>(std::max<std::size_t>(values.size(), 1));
  const bool finite = std::isfinite(sum);
  put<float>(out, 0, finite ? static_cast<float>(sum / n) : std::nanf(""));
  const std::span<std::byte> bits = out.subspan(sizeof(float));
  // Eight values to a byte without a branch: signs are as good as random.
  for (std::size_t b = 0; b < bits.size(); ++b) {
    const std::span<const float> eight =
        values.subspan(8 * b, std::min<std::size_t>(8, values.size() - 8 * b));
    unsigned byte = 0;
    for (std::size_t j = 0; j < eight.size(); ++j) byte |= (eight[j] < 0 ? 1U : 0U) << j;
    bits[b] = static_cast<std::byte>(byte);
  }
}

void decode_sign(std::span<const std::byte> in, std::span<float> values) {
  const auto scale = get<std::uint32_t>(in, 0);
  const std::span<const std::byte> bits = in.subspan(sizeof(float));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::uint32_t negative = std::to_integer<std::uint32_t>(bits[k / 8]) >> (k % 8) & 1;
    values[k] = std::bit_cast<float>(scale ^ negative << 31);
  }
}

bool ascends_below(std::span<const std::byte> in, std::size_t n) {
  std::size_t next = 0;
  for (std::size_t j = 0; j < in.size() / sizeof(Kept); ++j) {
    const std::size_t index = get<Kept>(in, j).index;
    if (index < next || index >= n) return false;
    next = index + 1;
  }
  return true;
}

}  // namespace

std::vector<std::string> codec_words() {
  return {"fp16", "bf16", "int8", "top-k", "random-k", "sign", "two-bit"};
}

std::string to_string(const Codec& codec) {
  const std::string kind = codec_words()[static_cast<std::size_t>(codec.kind)];
  if (!codec.keeps_some()) return kind;
  std::array<char, 32> fraction{};
  std::snprintf(fraction.data(), fraction.size(), "%g", codec.fraction);
  return "{ kind: " + kind + ", fraction: " + fraction.data() + " }";
}

Codec::Kind codec_kind(const std::string& word) {
  const std::vector<std::string> words = codec_words();
  const auto at = std::ranges::find(words, word);
  if (at == words.end()) throw std::invalid_argument("`" + word + "` is no codec");
  return static_cast<Codec::Kind>(at - words.begin());
}

std::size_t Codec::kept(std::size_t n) const {
  GV_CHECK(fraction > 0 && fraction <= 1, "a fraction in (0, 1]");
  const auto k = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(n)));
  return std::min(n, std::max<std::size_t>(k, 1));
}

std::size_t Codec::bytes(std::size_t n) const {
  switch (kind) {
    case Kind::fp16:
    case Kind::bf16:
      return 2 * n;
    case Kind::int8:
      return n + sizeof(float) * blocks_of(n);
    case Kind::top_k:
      return sizeof(Kept) * kept(n);
    case Kind::random_k:
      return sizeof(std::uint64_t) + sizeof(float) * kept(n);
    case Kind::sign:
      return sizeof(float) + (n + 7) / 8;
    case Kind::two_bit:
      return two_bit_bytes(*this, n);
  }
  GV_CHECK(false, "a kind of codec");
}

void encode(const Codec& codec, std::span<const float> values, std::span<std::byte> out) {
  GV_CHECK_EQUAL(out.size(), codec.bytes(values.size()), "room for the encoding");
  switch (codec.kind) {
    case Codec::Kind::fp16:
      return encode_words(values, out, to_half);
    case Codec::Kind::bf16:
      return encode_words(values, out, to_bfloat);
    case Codec::Kind::int8:
      return encode_int8(values, out);
    case Codec::Kind::top_k:
      GV_CHECK(values.size() >> 32 == 0, "indices of 32 bits");
      return encode_top_k(values, codec.kept(values.size()), out);
    case Codec::Kind::random_k:
      return encode_random_k(values, codec.kept(values.size()), codec.draw, out);
    case Codec::Kind::sign:
      return encode_sign(values, out);
    case Codec::Kind::two_bit:
      return encode_two_bit(codec, values, out);
  }
}

bool is_encoding(const Codec& codec, std::span<const std::byte> in, std::size_t n) {
  if (in.size() != codec.bytes(n)) return false;
  if (codec.kind == Codec::Kind::two_bit) return is_two_bit(codec, in, n);
  return codec.kind != Codec::Kind::top_k || ascends_below(in, n);
}

std::uint64_t drawn_from(std::span<const std::byte> in) {
  return get<std::uint64_t>(in, 0);
}

void decode(const Codec& codec, std::span<const std::byte> in, std::span<float> values) {
  GV_CHECK(is_encoding(codec, in, values.size()), "an encoding of so many values");
  switch (codec.kind) {
    case Codec::Kind::fp16:
      return decode_words(in, values, from_half);
    case Codec::Kind::bf16:
      return decode_words(in, values, from_bfloat);
    case Codec::Kind::int8:
      return decode_int8(in, values);
    case Codec::Kind::top_k:
      return decode_top_k(in, values);
    case Codec::Kind::random_k:
      return decode_random_k(in, values);
    case Codec::Kind::sign:
      return decode_sign(in, values);
    case Codec::Kind::two_bit:
      return decode_two_bit(codec, in, values);
  }
}

namespace {

constexpr unsigned index_bits = 12;
static_assert(std::size_t{1} << index_bits == two_bit_block, "an index is a place in a block");
constexpr unsigned entry_bits = index_bits + 2;
constexpr std::size_t sizes_bytes = 2 * sizeof(float);

/// Writes a sequence of bits, the least significant first.
class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> out) : out_(out) {}
  void put(std::uint32_t value, unsigned bits) {
    held_ |= std::uint64_t{value} << count_;
    for (count_ += bits; count_ >= 8; count_ -= 8, held_ >>= 8)
      out_[at_++] = static_cast<std::byte>(held_ & 0xFF);
  }
  void finish() {
    if (count_ > 0) out_[at_] = static_cast<std::byte>(held_);
  }

 private:
  std::span<std::byte> out_;
  std::size_t at_ = 0;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;  ///< number of held bits, below 8
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> in) : in_(in) {}
  std::uint32_t take(unsigned bits) {
    for (; count_ < bits; count_ += 8)
      held_ |= std::to_integer<std::uint64_t>(in_[at_++]) << count_;
    const auto value = static_cast<std::uint32_t>(held_ & ((std::uint64_t{1} << bits) - 1));
    held_ >>= bits;
    count_ -= bits;
    return value;
  }
  /// Returns whether the rest of the last byte is zero.
  bool ends() const { return held_ == 0 && at_ == in_.size(); }

 private:
  std::span<const std::byte> in_;
  std::size_t at_ = 0;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

struct Entry {
  std::size_t index = 0;
  bool negative = false, high = false;
};

Entry take_entry(BitReader& bits) {
  const std::uint32_t entry = bits.take(entry_bits);
  return {.index = entry % two_bit_block,
          .negative = (entry >> index_bits & 1) != 0,
          .high = (entry >> (index_bits + 1) & 1) != 0};
}

std::size_t block_bytes(std::size_t kept) {
  return sizes_bytes + (entry_bits * kept + 7) / 8;
}

/// Calls block(begin, count, kept, offset of its bytes) for each block.
template <class Block>
void for_blocks(const Codec& codec, std::size_t n, Block block) {
  std::size_t offset = 0;
  for (std::size_t begin = 0; begin < n; begin += two_bit_block) {
    const std::size_t count = std::min(two_bit_block, n - begin);
    const std::size_t kept = codec.kept(count);
    block(begin, count, kept, offset);
    offset += block_bytes(kept);
  }
}

/// The two sizes, and the mean that separates large values from small ones.
struct Sizes {
  float low = 0, high = 0;
  double between = 0;
};

Sizes sizes_of(std::span<const float> block, const std::vector<std::size_t>& kept) {
  double sum = 0;
  for (const std::size_t k : kept) sum += std::abs(static_cast<double>(block[k]));
  if (!std::isfinite(sum)) return {written_nan, written_nan, 0};
  Sizes sizes{.between = sum / static_cast<double>(kept.size())};
  double low = 0;
  double high = 0;
  std::size_t larger = 0;
  for (const std::size_t k : kept) {
    const double size = std::abs(static_cast<double>(block[k]));
    (size > sizes.between ? high : low) += size;
    larger += size > sizes.between ? 1 : 0;
  }
  sizes.low = static_cast<float>(low / static_cast<double>(kept.size() - larger));
  sizes.high = larger > 0 ? static_cast<float>(high / static_cast<double>(larger)) : sizes.low;
  return sizes;
}

void encode_block(std::span<const float> block, std::size_t k, std::span<std::byte> out) {
  std::vector<std::size_t> kept;
  kept.reserve(k);
  for_largest(block, k, [&](std::size_t at) { kept.push_back(at); });
  const Sizes sizes = sizes_of(block, kept);
  std::memcpy(out.data(), &sizes.low, sizeof(float));
  std::memcpy(out.data() + sizeof(float), &sizes.high, sizeof(float));
  BitWriter bits(out.subspan(sizes_bytes));
  for (const std::size_t at : kept) {
    const std::uint32_t negative = block[at] < 0 ? 1 : 0;
    const std::uint32_t high = std::abs(static_cast<double>(block[at])) > sizes.between ? 1 : 0;
    bits.put(static_cast<std::uint32_t>(at) | negative << index_bits | high << (index_bits + 1),
             entry_bits);
  }
  bits.finish();
}

bool is_block(std::span<const std::byte> in, std::size_t count, std::size_t kept) {
  BitReader bits(in.subspan(sizes_bytes));
  std::size_t next = 0;
  for (std::size_t j = 0; j < kept; ++j) {
    const std::size_t index = take_entry(bits).index;
    if (index < next || index >= count) return false;
    next = index + 1;
  }
  return bits.ends();
}

void decode_block(std::span<const std::byte> in, std::size_t kept, std::span<float> block) {
  std::uint32_t sizes[2];
  std::memcpy(sizes, in.data(), sizeof(sizes));
  std::ranges::fill(block, 0.0F);
  BitReader bits(in.subspan(sizes_bytes));
  for (std::size_t j = 0; j < kept; ++j) {
    const Entry entry = take_entry(bits);
    const std::uint32_t sign = entry.negative ? 0x8000'0000U : 0;
    block[entry.index] = std::bit_cast<float>(sizes[entry.high ? 1 : 0] ^ sign);
  }
}

}  // namespace

std::size_t two_bit_bytes(const Codec& codec, std::size_t n) {
  std::size_t bytes = n / two_bit_block * block_bytes(codec.kept(two_bit_block));
  if (n % two_bit_block > 0) bytes += block_bytes(codec.kept(n % two_bit_block));
  return bytes;
}

void encode_two_bit(const Codec& codec, std::span<const float> values, std::span<std::byte> out) {
  for_blocks(codec, values.size(),
             [&](std::size_t begin, std::size_t count, std::size_t kept, std::size_t offset) {
               encode_block(values.subspan(begin, count), kept,
                            out.subspan(offset, block_bytes(kept)));
             });
}

bool is_two_bit(const Codec& codec, std::span<const std::byte> in, std::size_t n) {
  bool all = true;
  for_blocks(codec, n, [&](std::size_t, std::size_t count, std::size_t kept, std::size_t offset) {
    all = all && is_block(in.subspan(offset, block_bytes(kept)), count, kept);
  });
  return all;
}

void decode_two_bit(const Codec& codec, std::span<const std::byte> in, std::span<float> values) {
  for_blocks(codec, values.size(),
             [&](std::size_t begin, std::size_t count, std::size_t kept, std::size_t offset) {
               decode_block(in.subspan(offset, block_bytes(kept)), kept,
                            values.subspan(begin, count));
             });
}

}  // namespace gv
