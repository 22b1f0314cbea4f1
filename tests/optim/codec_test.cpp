#include "optim/codec/codec.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "tests/optim/codec_values.h"

namespace gv {
namespace {

TEST(Codec, SaysHowManyBytes) {
  for (const Codec& codec : {fp16, bf16, int8, top_k(0.1)}) EXPECT_EQ(codec.bytes(0), 0U);
  EXPECT_EQ(fp16.bytes(7), 14U);
  EXPECT_EQ(bf16.bytes(7), 14U);
  EXPECT_EQ(int8.bytes(256), 256U + 4);
  EXPECT_EQ(int8.bytes(257), 257U + 8);
  EXPECT_EQ(top_k(0.01).bytes(1000), 80U);
  EXPECT_EQ(top_k(0.07).kept(100), 7U);
  EXPECT_EQ(top_k(1e-6).kept(100), 1U);
  EXPECT_EQ(top_k(1).kept(100), 100U);
}

float largest(std::span<const float> block) {
  float size = 0;
  for (const float value : block) size = std::max(size, std::abs(value));
  return size;
}

TEST(Int8, ErrorsAreWithinTheBoundOfTheBlock) {
  for (const int low : {-20, -126, 100}) {
    Floats values = of_all_sizes(10'007, 2, low, low + 20);
    for (float& value : values) value = std::clamp(value, -most, most);
    const Floats back = there_and_back(int8, values);
    for (std::size_t from = 0; from < values.size(); from += int8_block) {
      const std::size_t count = std::min(int8_block, values.size() - from);
      const double size = largest(std::span(values).subspan(from, count));
      for (std::size_t k = from; k < from + count; ++k) {
        const double error = std::abs(static_cast<double>(values[k]) - back[k]);
        ASSERT_LE(error, size < 0x1p-119 ? size : size / 127 * (1 + 0x1p-14)) << values[k];
      }
    }
  }
}

TEST(Int8, KnownBlocks) {
  Floats values(int8_block * 2 + 3, 0.0F);  // the first block is zeros
  values[256] = -254;
  values[257] = 4;  // two steps
  values[512] = 127;
  values[513] = -2;
  const Floats back = there_and_back(int8, values);
  EXPECT_EQ(largest(std::span(back).first(256)), 0.0F);
  EXPECT_EQ(back[256], -254);
  EXPECT_EQ(back[257], 4);
  EXPECT_EQ(back[512], 127);
  EXPECT_EQ(back[513], -2);
  const Bytes bytes = encoded(int8, values);
  EXPECT_EQ(bytes.size(), 12U + 515);
  EXPECT_EQ(static_cast<std::int8_t>(bytes[12 + 256]), -127);
}

// A value that lies 0.3 of a step above a code is rounded up 3 times of 10: 20,000 draws, within
// four standard deviations.
TEST(Int8, IsRightOnAverage) {
  Rng rng(12);
  int ups = 0;
  constexpr int draws = 20'000;
  for (int draw = 0; draw < draws; ++draw) {
    const Floats block{127, 40.3F, static_cast<float>(rng.uniform())};
    const float back = there_and_back(int8, block)[1];
    ASSERT_TRUE(back == 40 || back == 41) << back;
    ups += back == 41 ? 1 : 0;
  }
  EXPECT_NEAR(ups, 0.3 * draws, 4 * std::sqrt(0.21 * draws));
}

// Each place draws separately: equal values in a block are not all rounded one way.
TEST(Int8, PlacesAreRoundedIndependently) {
  Floats values(int8_block, 0.5F);
  values[0] = 127;
  const Floats back = there_and_back(int8, values);
  const auto ups = std::ranges::count(back, 1.0F);
  EXPECT_NEAR(static_cast<double>(ups), 127.5, 4 * std::sqrt(255 * 0.25));
}

TEST(Int8, TheEndsOfTheRangeStayFinite) {
  for (const float size : {most, least, 50 * least, 190 * least}) {
    const Floats back = there_and_back(int8, {size, -size, 0.0F});
    for (const float value : back) ASSERT_TRUE(std::isfinite(value)) << size;
    EXPECT_LE(std::abs(size - back[0]), size);
    EXPECT_EQ(back[1], -back[0]);
    EXPECT_EQ(back[2], 0);
  }
  EXPECT_EQ(there_and_back(int8, {most, -most}), (Floats{most, -most}));
}

TEST(Int8, WhatIsNotFiniteSpoilsItsBlockAndNoOther) {
  for (const float bad : {nan, -nan, infinity, -infinity}) {
    Floats values(int8_block * 3, 1.0F);
    values[300] = bad;
    const Floats back = there_and_back(int8, values);
    for (std::size_t k = 0; k < back.size(); ++k)
      ASSERT_EQ(std::isnan(back[k]), k / int8_block == 1) << k;
  }
}

/// Returns the k largest by the definition: sorted by size, then by place.
Floats sparsified(const Floats& values, std::size_t k) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
    return std::abs(values[i]) > std::abs(values[j]);
  });
  Floats out(values.size(), 0.0F);
  for (std::size_t j = 0; j < k; ++j) out[order[j]] = values[order[j]];
  return out;
}

TEST(TopK, KeepsTheLargestAndOfEqualOnesTheFirst) {
  Floats random(5'003);
  Rng(3).fill_normal(random);
  Floats ties(5'003);
  for (std::size_t k = 0; k < ties.size(); ++k)
    ties[k] = static_cast<float>(k * 7 % 5) * (k % 2 == 0 ? 1.0F : -1.0F);
  for (const Floats& values : {random, ties, Floats(70, 1.5F), Floats(70, 0.0F), Floats{-3}}) {
    for (const double fraction : {1e-9, 0.01, 0.3, 0.5, 1.0}) {
      const Codec codec = top_k(fraction);
      const Bytes bytes = encoded(codec, values);
      ASSERT_TRUE(is_encoding(codec, bytes, values.size()));
      ASSERT_EQ(decoded(codec, bytes, values.size()),
                sparsified(values, codec.kept(values.size())));
    }
  }
}

TEST(TopK, IsAContraction) {
  const Floats values = of_all_sizes(3'000, 4, -3, 3);
  const auto square = [](const Floats& v) {
    return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  };
  for (const double fraction : {0.01, 0.1, 0.9}) {
    Floats left = there_and_back(top_k(fraction), values);
    for (std::size_t k = 0; k < left.size(); ++k) left[k] = values[k] - left[k];
    EXPECT_LE(square(left), (1 - fraction) * square(values));
  }
}

TEST(TopK, WhatIsNotFiniteIsTheLargest) {
  const Floats back = there_and_back(top_k(0.5), {1.0F, nan, most, -infinity});
  EXPECT_EQ(back[0], 0);
  EXPECT_TRUE(std::isnan(back[1]));
  EXPECT_EQ(back[2], 0);
  EXPECT_EQ(back[3], -infinity);
}

TEST(Codec, EncodingWhatWasDecodedGivesTheSameBytes) {
  const Floats values = of_all_sizes(5'000, 5, -20, 10);
  for (const Codec& codec : {fp16, bf16, top_k(0.05)}) {
    const Bytes bytes = encoded(codec, values);
    EXPECT_EQ(encoded(codec, decoded(codec, bytes, values.size())), bytes);
  }
  // A scale is rounded once more, but the codes stay.
  const Bytes bytes = encoded(int8, values);
  const Bytes again = encoded(int8, decoded(int8, bytes, values.size()));
  const std::size_t codes = bytes.size() - values.size();
  EXPECT_TRUE(std::ranges::equal(std::span(bytes).subspan(codes), std::span(again).subspan(codes)));
}

TEST(Codec, KeepsTheOrderOfValues) {
  Floats values = of_all_sizes(20'000, 6, -30, 20);
  std::ranges::sort(values);
  for (const Codec& codec : {fp16, bf16})
    EXPECT_TRUE(std::ranges::is_sorted(there_and_back(codec, values)));
}

TEST(Codec, RefusesWhatIsNoEncoding) {
  const Floats values = of_all_sizes(100, 7, 0, 3);
  for (const Codec& codec : {fp16, bf16, int8, top_k(0.1)}) {
    const Bytes bytes = encoded(codec, values);
    EXPECT_TRUE(is_encoding(codec, bytes, 100));
    EXPECT_FALSE(is_encoding(codec, std::span(bytes).first(bytes.size() - 1), 100));
    EXPECT_FALSE(is_encoding(codec, bytes, 300));
    EXPECT_FALSE(is_encoding(codec, {}, 100));
  }
  Bytes beyond = encoded(top_k(0.1), values);
  beyond[9 * sizeof(Kept) + 3] = std::byte{1};  // the last index
  EXPECT_FALSE(is_encoding(top_k(0.1), beyond, 100));
  Bytes twice = encoded(top_k(0.1), values);
  std::copy_n(twice.begin(), 4, twice.begin() + sizeof(Kept));
  EXPECT_FALSE(is_encoding(top_k(0.1), twice, 100));
}

TEST(RandomK, SendsOneOfEachStratumAsItIs) {
  const Codec tenth{Codec::Kind::random_k, 0.1};
  EXPECT_EQ(tenth.bytes(1000), 8U + 400);
  const Floats values = of_all_sizes(1003, 5, -3, 3);
  const Floats back = there_and_back(tenth, values);
  for (std::size_t j = 0; j < 100; ++j) {
    std::size_t kept = 0;
    for (std::size_t k = j * 1003 / 100; k < (j + 1) * 1003 / 100; ++k) {
      if (back[k] == 0) continue;
      ++kept;
      EXPECT_EQ(back[k], values[k]);
    }
    EXPECT_EQ(kept, 1U) << j;
  }
}

/// |x - x'|^2 is (1 - k/n) |x|^2 on average, and the drawn places change with the values.
TEST(RandomK, LosesWhatItLeavesOut) {
  const Codec quarter{Codec::Kind::random_k, 0.25};
  double lost = 0;
  double all = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Floats values = of_all_sizes(200, seed, 0, 1);
    const Floats back = there_and_back(quarter, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double off = static_cast<double>(values[k]) - static_cast<double>(back[k]);
      lost += off * off;
      all += static_cast<double>(values[k]) * static_cast<double>(values[k]);
    }
  }
  EXPECT_NEAR(lost / all, 0.75, 0.02);
}

TEST(RandomK, TakesAnySeedFromTheWire) {
  const Codec half{Codec::Kind::random_k, 0.5};
  for (const std::byte filling : {std::byte{0}, std::byte{255}, std::byte{90}}) {
    const Bytes bytes(half.bytes(9), filling);
    EXPECT_TRUE(is_encoding(half, bytes, 9));
    decoded(half, bytes, 9);
  }
  EXPECT_FALSE(is_encoding(half, Bytes(half.bytes(9) - 1), 9));
  EXPECT_EQ(there_and_back(Codec{Codec::Kind::random_k, 1}, {1, nan, 3})[2], 3);
}

TEST(Sign, KeepsTheSignsAndTheMeanSize) {
  const Codec sign{Codec::Kind::sign};
  EXPECT_EQ(sign.bytes(9), 4U + 2);
  EXPECT_EQ(there_and_back(sign, {1, -2, 3, 0, -4}), (Floats{2, -2, 2, 2, -2}));
  EXPECT_TRUE(there_and_back(sign, {}).empty());
  for (const float value : there_and_back(sign, {1, -infinity, 3})) EXPECT_TRUE(std::isnan(value));
}

/// |x - x'|^2 = |x|^2 - |x|_1^2 / n: less than the whole, so that error feedback converges.
TEST(Sign, LosesLessThanAll) {
  const Codec sign{Codec::Kind::sign};
  const Floats values = of_all_sizes(1000, 3, 0, 4);
  const Floats back = there_and_back(sign, values);
  double lost = 0;
  double squares = 0;
  double sum = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto value = static_cast<double>(values[k]);
    lost += (value - static_cast<double>(back[k])) * (value - static_cast<double>(back[k]));
    squares += value * value;
    sum += std::abs(value);
  }
  EXPECT_NEAR(lost / squares, 1 - sum * sum / (1000 * squares), 1e-5);
}

TEST(Codec, HasAWordForEachKind) {
  const std::vector<std::string> words = codec_words();
  for (std::size_t k = 0; k < words.size(); ++k)
    EXPECT_EQ(codec_kind(words[k]), static_cast<Codec::Kind>(k));
  EXPECT_EQ(codec_words().size(), static_cast<std::size_t>(Codec::Kind::two_bit) + 1);
  EXPECT_THROW(codec_kind("gzip"), std::invalid_argument);
  EXPECT_EQ(to_string(Codec{Codec::Kind::int8}), "int8");
  EXPECT_EQ(to_string(Codec{Codec::Kind::random_k, 0.25}), "{ kind: random-k, fraction: 0.25 }");
}

}  // namespace
}  // namespace gv
