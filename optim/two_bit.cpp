#include "optim/two_bit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "optim/codec_arithmetic.h"

namespace gv {
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
