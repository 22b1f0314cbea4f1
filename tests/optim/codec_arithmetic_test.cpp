#include "optim/codec/codec_arithmetic.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/optim/codec_values.h"

namespace gv {
namespace {

TEST(Fp16, KnownValues) {
  const std::vector<std::pair<float, std::uint16_t>> known{
      {0.0F, 0x0000},         {-0.0F, 0x8000},          {1.0F, 0x3C00},          {-2.0F, 0xC000},
      {65504.0F, 0x7BFF},     {65519.99F, 0x7BFF},      {65520.0F, 0x7C00},      {most, 0x7C00},
      {infinity, 0x7C00},     {-infinity, 0xFC00},      {0x1p-14F, 0x0400},      {0x1p-24F, 0x0001},
      {0x1p-25F, 0x0000},     {0x1.8p-24F, 0x0002},     {0x1.000002p-25F, 1},    {-least, 0x8000},
      {0.333333343F, 0x3555}, {1.00048828125F, 0x3C00}, {1.00146484375F, 0x3C02}};
  for (const auto& [value, half] : known) EXPECT_EQ(to_half(value), half) << value;
}

TEST(Fp16, EveryHalfIsWhatItsFieldsSayAndComesBack) {
  for (std::uint32_t bits = 0; bits < 65'536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const int fraction = static_cast<int>(bits & 1023);
    const float value = from_half(half);
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(value));
      ASSERT_EQ(to_half(value), half | 0x200) << "quiet";
      continue;
    }
    const double size = exponent == 31  ? HUGE_VAL
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    ASSERT_EQ(value, (bits & 0x8000) != 0 ? -size : size);
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0);
    ASSERT_EQ(to_half(value), half);
  }
}

/// Checks the definition: between two adjacent numbers of the narrow format, `low` and the next,
/// the midpoint goes to the even one.
template <class To, class From>
void expect_nearest(std::uint16_t low, To to, From from) {
  const float a = from(low);
  const float b = from(static_cast<std::uint16_t>(low + 1));
  const float middle = static_cast<float>((static_cast<double>(a) + static_cast<double>(b)) / 2);
  const auto high = static_cast<std::uint16_t>(low + 1);
  ASSERT_EQ(to(middle), low % 2 == 0 ? low : high) << a << " " << b;
  ASSERT_EQ(to(std::nextafter(middle, a)), low) << a << " " << b;
  ASSERT_EQ(to(std::nextafter(middle, b)), high) << a << " " << b;
  ASSERT_EQ(to(-middle), (low % 2 == 0 ? low : high) | 0x8000);
}

TEST(Fp16, RoundsToTheNearestAndHalvesToEven) {
  for (std::uint16_t half = 0; half < 0x7BFF; ++half) expect_nearest(half, to_half, from_half);
}

TEST(Bf16, RoundsToTheNearestAndHalvesToEven) {
  // Starts at 2: between 0 and the smallest numbers there are too few floats next to the midpoint.
  for (std::uint16_t b = 2; b < 0x7F7F; ++b) expect_nearest(b, to_bfloat, from_bfloat);
  EXPECT_EQ(to_bfloat(most), 0x7F80);
  EXPECT_EQ(to_bfloat(-infinity), 0xFF80);
}

TEST(Bf16, EveryOneComesBackAndNanStaysNan) {
  for (std::uint32_t bits = 0; bits < 65'536; ++bits) {
    const auto bfloat = static_cast<std::uint16_t>(bits);
    const float value = from_bfloat(bfloat);
    ASSERT_EQ(to_bfloat(value), std::isnan(value) ? bfloat | 0x40 : bfloat);
  }
  // All its set mantissa bits are cut off.
  EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(std::bit_cast<float>(0x7F80'0001U)))));
  EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(std::bit_cast<float>(0xFFFF'FFFFU)))));
}

TEST(Codec, ErrorsOfTheFloatsAreWithinTheirBounds) {
  const Floats values = of_all_sizes(200'000, 1, -40, 14);
  const Floats halves = there_and_back(fp16, values);
  const Floats bfloats = there_and_back(bf16, values);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const float size = std::abs(values[k]);
    if (size <= 65504.0F) {
      const float bound = size < 0x1p-14F ? 0x1p-25F : 0x1p-11F * size;
      ASSERT_LE(std::abs(values[k] - halves[k]), bound) << values[k];
    }
    ASSERT_LE(std::abs(values[k] - bfloats[k]), 0x1p-8F * size) << values[k];
  }
}

}  // namespace
}  // namespace gv
