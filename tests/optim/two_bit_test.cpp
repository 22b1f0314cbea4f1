#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "optim/codec/codec_arithmetic.h"
#include "optim/rng.h"
#include "tests/optim/codec_values.h"

namespace gv {
namespace {

Codec two_bit(double fraction) {
  return {Codec::Kind::two_bit, fraction};
}

/// Returns `count` bits from `at` on, read one by one.
std::uint32_t bits_of(const Bytes& bytes, std::size_t at, unsigned count) {
  std::uint32_t value = 0;
  for (unsigned b = 0; b < count; ++b) {
    const auto byte = std::to_integer<std::uint32_t>(bytes[(at + b) / 8]);
    value |= (byte >> ((at + b) % 8) & 1U) << b;
  }
  return value;
}

/// Reads by the layout of optim/codec/codec_arithmetic.h.
Floats read_by_hand(const Codec& codec, const Bytes& bytes, std::size_t n) {
  Floats values(n, 0.0F);
  std::size_t byte = 0;
  for (std::size_t begin = 0; begin < n; begin += 4096) {
    const std::size_t count = std::min<std::size_t>(4096, n - begin);
    const auto k = static_cast<std::size_t>(
        std::max(1.0, std::round(codec.fraction * static_cast<double>(count))));
    float sizes[2];
    std::memcpy(sizes, bytes.data() + byte, 8);
    for (std::size_t j = 0; j < k; ++j) {
      const std::size_t at = 8 * (byte + 8) + 14 * j;
      const float size = sizes[bits_of(bytes, at + 13, 1)];
      values[begin + bits_of(bytes, at, 12)] = bits_of(bytes, at + 12, 1) == 1 ? -size : size;
    }
    byte += 8 + (14 * k + 7) / 8;
  }
  EXPECT_EQ(byte, bytes.size());
  return values;
}

/// Returns the decoded values by the definition of optim/codec/codec.h, block by block: sorted by
/// size, then by place.
Floats written_by_hand(const Codec& codec, const Floats& values) {
  Floats out(values.size(), 0.0F);
  for (std::size_t begin = 0; begin < values.size(); begin += 4096) {
    const std::size_t count = std::min<std::size_t>(4096, values.size() - begin);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), begin);
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
      return std::abs(values[i]) > std::abs(values[j]);
    });
    order.resize(std::max<std::size_t>(
        1, static_cast<std::size_t>(std::llround(codec.fraction * static_cast<double>(count)))));
    std::ranges::sort(order);  // order of the sums
    const auto mean = [&](auto chosen) {
      double sum = 0;
      double number = 0;
      for (const std::size_t k : order) {
        const double size = std::abs(static_cast<double>(values[k]));
        if (!chosen(size)) continue;
        sum += size;
        ++number;
      }
      return number > 0 ? sum / number : 0;
    };
    const double between = mean([](double) { return true; });
    const double low = mean([&](double size) { return size <= between; });
    const double high = mean([&](double size) { return size > between; });
    for (const std::size_t k : order) {
      const double size = std::abs(static_cast<double>(values[k])) > between ? high : low;
      out[k] = static_cast<float>(values[k] < 0 ? -size : size);
    }
  }
  return out;
}

Floats drawn_values(Rng rng) {
  const std::size_t n = 1 + rng.below(9'500);
  const int low = static_cast<int>(rng.below(40)) - 30;
  Floats values = of_all_sizes(n, rng.bits(), low, low + 1 + static_cast<int>(rng.below(12)));
  // Equal values, and zeros.
  for (std::size_t k = 0; k < n / 5; ++k) values[rng.below(n)] = values[rng.below(n)];
  for (std::size_t k = 0; k < n / 9; ++k) values[rng.below(n)] = 0;
  return values;
}

TEST(TwoBit, IsWhatItsLayoutAndItsDefinitionSay) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng = Rng(seed).derive("two bit");
    const Codec codec = two_bit(std::pow(rng.uniform(), 3) + 1e-6);
    const Floats values = drawn_values(rng.derive("values"));
    const Bytes bytes = encoded(codec, values);
    ASSERT_TRUE(is_encoding(codec, bytes, values.size()));
    const Floats back = decoded(codec, bytes, values.size());
    ASSERT_EQ(back, read_by_hand(codec, bytes, values.size()));
    ASSERT_EQ(back, written_by_hand(codec, values));
  }
}

TEST(TwoBit, KnownBytes) {
  const Codec half = two_bit(0.5);
  EXPECT_EQ(half.bytes(4), 8U + 4);
  const Bytes bytes = encoded(half, {8, 0, -2, 1});
  float sizes[2];
  std::memcpy(sizes, bytes.data(), 8);
  EXPECT_EQ(sizes[0], 2);
  EXPECT_EQ(sizes[1], 8);
  // Place 0, above zero, large; place 2, below zero, small: 0x2000 and 0x1002 << 14.
  EXPECT_TRUE(std::ranges::equal(
      std::span(bytes).subspan(8),
      std::vector{std::byte{0x00}, std::byte{0xA0}, std::byte{0x00}, std::byte{0x04}}));
  EXPECT_EQ(there_and_back(half, {8, 0, -2, 1}), (Floats{8, 0, -2, 0}));
  EXPECT_EQ(two_bit(1.0 / 64).bytes(4096), 8U + 112) << "146 times less, but for the two sizes";
  EXPECT_EQ(two_bit(1.0 / 64).bytes(3 * 4096 + 1), 3 * 120U + 10);
  EXPECT_EQ(two_bit(0.3).bytes(0), 0U);
  EXPECT_TRUE(there_and_back(two_bit(0.3), {}).empty());
}

/// The loss is less than the whole, by the square of the sum of the kept sizes over their number.
TEST(TwoBit, IsAContraction) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng = Rng(seed).derive("contraction");
    const Codec codec = two_bit(0.01 + 0.9 * rng.uniform());
    Floats values = drawn_values(rng.derive("values"));
    values.resize(std::min<std::size_t>(values.size(), 4096));
    const Floats back = there_and_back(codec, values);
    double lost = 0;
    double all = 0;
    double kept = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto value = static_cast<double>(values[k]);
      lost += std::pow(value - static_cast<double>(back[k]), 2);
      all += value * value;
      kept += std::abs(static_cast<double>(back[k]));  // the means keep the sum
    }
    const double bound = all - kept * kept / static_cast<double>(codec.kept(values.size()));
    EXPECT_LE(lost, bound + 1e-6 * all);
    EXPECT_LT(lost, all);
  }
}

TEST(TwoBit, WhatIsNotFiniteSpoilsWhatIsKeptOfItsBlock) {
  const Codec tenth = two_bit(0.1);
  for (const float bad : {nan, infinity, -infinity}) {
    Floats values = of_all_sizes(3 * 4096, 9, -1, 1);
    values[5000] = bad;
    const Floats back = there_and_back(tenth, values);
    EXPECT_TRUE(std::isnan(back[5000]));
    const auto spoilt = [&](std::size_t block) {
      return std::count_if(back.begin() + static_cast<std::ptrdiff_t>(4096 * block),
                           back.begin() + static_cast<std::ptrdiff_t>(4096 * (block + 1)),
                           [](float x) { return std::isnan(x); });
    };
    EXPECT_EQ(spoilt(0), 0);
    EXPECT_EQ(spoilt(1), 410);
    EXPECT_EQ(spoilt(2), 0);
  }
}

/// Entries may hold any bytes: an accepted encoding decodes to floats at ascending places, and no
/// two accepted encodings decode alike because of the padding in the last byte.
TEST(TwoBit, RefusesWhatIsNoEncoding) {
  const Codec codec = two_bit(0.01);
  const Floats values = of_all_sizes(4'300, 7, 0, 3);  // two blocks, of 41 and 2
  const Bytes bytes = encoded(codec, values);
  const std::size_t second = 8 + (14 * 41 + 7) / 8;
  ASSERT_EQ(bytes.size(), second + 8 + 4);
  EXPECT_FALSE(is_encoding(codec, std::span(bytes).first(bytes.size() - 1), 4'300));
  EXPECT_FALSE(is_encoding(codec, bytes, 4'096));
  EXPECT_FALSE(is_encoding(codec, {}, 4'300));
  Bytes filled = bytes;
  filled.back() |= std::byte{0x80};  // only 28 bits are used
  EXPECT_FALSE(is_encoding(codec, filled, 4'300));
  Bytes twice = bytes;
  std::fill(twice.begin() + static_cast<std::ptrdiff_t>(second + 8), twice.end(), std::byte{0});
  EXPECT_FALSE(is_encoding(codec, twice, 4'300)) << "place 0 twice";
  Bytes beyond = twice;
  beyond[second + 8 + 1] = std::byte{0x40};  // bit 14: place 1
  EXPECT_TRUE(is_encoding(codec, beyond, 4'300));
  beyond[second + 8 + 3] = std::byte{0x02};  // bit 25: place 2049
  EXPECT_FALSE(is_encoding(codec, beyond, 4'300)) << "the block has 204";
}

TEST(TwoBit, EncodingWhatWasDecodedGivesTheSameBytes) {
  const Codec codec = two_bit(0.05);
  const Bytes bytes = encoded(codec, of_all_sizes(9'000, 5, -20, 10));
  const Bytes again = encoded(codec, decoded(codec, bytes, 9'000));
  // The sizes are rounded once more, but the entries stay.
  constexpr std::size_t entries = (14 * 205 + 7) / 8;
  ASSERT_EQ(bytes.size(), 2 * (8 + entries) + 8 + 70);
  for (const std::size_t block : {0, 1, 2}) {
    const std::size_t begin = block * (8 + entries) + 8;
    const std::size_t count = block < 2 ? entries : 70;
    EXPECT_TRUE(std::ranges::equal(std::span(bytes).subspan(begin, count),
                                   std::span(again).subspan(begin, count)));
  }
}

}  // namespace
}  // namespace gv
