#include "optim/rng.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Salmon et al., SC 2011, section 3.3: the multipliers of philox4x32, and the increments of the key
// after each round.
constexpr std::uint64_t multiplier0 = 0xD2511F53;
constexpr std::uint64_t multiplier1 = 0xCD9E8D57;
constexpr std::uint32_t weyl0 = 0x9E3779B9;
constexpr std::uint32_t weyl1 = 0xBB67AE85;

Block at(std::uint64_t counter, std::uint64_t key) {
  return philox4x32(
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}, key);
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

/// The number of blocks at once that the compiler turns into vector instructions.
constexpr std::size_t lanes = 16;
using Lane = std::array<std::uint32_t, lanes>;

/// One round of `philox4x32` in every lane.
void round_lanes(std::array<Lane, 4>& c, std::uint32_t key0, std::uint32_t key1) {
  for (std::size_t l = 0; l < lanes; ++l) {
    const std::uint64_t product0 = multiplier0 * c[0][l];
    const std::uint64_t product1 = multiplier1 * c[2][l];
    c[0][l] = static_cast<std::uint32_t>(product1 >> 32) ^ c[1][l] ^ key0;
    c[1][l] = static_cast<std::uint32_t>(product1);
    c[2][l] = static_cast<std::uint32_t>(product0 >> 32) ^ c[3][l] ^ key1;
    c[3][l] = static_cast<std::uint32_t>(product0);
  }
}

/// Lane l: the block of counter + l.
std::array<Lane, 4> philox_lanes(std::uint64_t counter, std::uint64_t key) {
  std::array<Lane, 4> c{};
  for (std::size_t l = 0; l < lanes; ++l) {
    c[0][l] = static_cast<std::uint32_t>(counter + l);
    c[1][l] = static_cast<std::uint32_t>((counter + l) >> 32);
  }
  for (std::uint32_t round = 0; round < 10; ++round) {
    round_lanes(c, static_cast<std::uint32_t>(key) + round * weyl0,
                static_cast<std::uint32_t>(key >> 32) + round * weyl1);
  }
  return c;
}

/// ln(u) within 2 units in the last place, for normal u > 0. With u = m 2^e, m in [1/sqrt 2, sqrt
/// 2): ln(u) = e ln 2 + 2 artanh(s), s = (m - 1) / (m + 1). No call, so that loops vectorize.
inline float fast_log(float u) {
  constexpr std::uint32_t root_half = 0x3F3504F3;  // the bits of 1 / sqrt(2)
  const std::uint32_t above = std::bit_cast<std::uint32_t>(u) - root_half;
  const auto e = static_cast<float>(static_cast<std::int32_t>(above) >> 23);
  const float m = std::bit_cast<float>((above & 0x007FFFFFU) + root_half);
  const float s = (m - 1) / (m + 1);
  const float t = s * s;
  const float series = 2.0F / 3 + t * (2.0F / 5 + t * (2.0F / 7 + t * (2.0F / 9)));
  return e * 0.693147181F + (2 * s + s * t * series);
}

/// Box & Muller 1958: two normal numbers from 64 bits. `radial` gives the radius (24 bits, so that
/// no number exceeds 5.8), `angular` the quarter turn (2 bits) and the angle r in it (24).
inline std::array<float, 2> normal_pair(std::uint32_t radial, std::uint32_t angular) {
  const float u = static_cast<float>(static_cast<std::int32_t>(radial >> 8) + 1) * 0x1p-24F;
  const float radius = std::sqrt(std::max(-2 * fast_log(u), 0.0F));
  const auto within = static_cast<std::int32_t>(angular << 2 >> 8) - (1 << 23);
  const float r = static_cast<float>(within) * (std::numbers::pi_v<float> / 2 * 0x1p-24F);
  const float t = r * r;
  // Taylor, |r| <= pi / 4: the first terms left out are below 4e-7.
  const float sine = r + r * t * (-1.0F / 6 + t * (1.0F / 120 - t * (1.0F / 5040)));
  const float cosine = 1 + t * (-0.5F + t * (1.0F / 24 + t * (-1.0F / 720 + t * (1.0F / 40320))));
  const std::uint32_t quarter = angular >> 30;
  const float x = (quarter & 1U) != 0 ? -sine : cosine;
  const float y = (quarter & 1U) != 0 ? cosine : sine;
  const float signed_radius = (quarter & 2U) != 0 ? -radius : radius;
  return {signed_radius * x, signed_radius * y};
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = multiplier0 * counter[0];
    const std::uint64_t product1 = multiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0,
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1,
               static_cast<std::uint32_t>(product0)};
    key0 += weyl0;
    key1 += weyl1;
  }
  return counter;
}

Rng Rng::derive(std::uint64_t stream) const {
  const Block block = philox4x32(
      {static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32), 1, 0}, key_);
  return Rng(join(block[0], block[1]));
}

Rng Rng::derive(const char* name) const {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
  return derive(hash);
}

std::uint64_t Rng::bits() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_bits_;
  }
  const Block block = at(counter_++, key_);
  spare_bits_ = join(block[2], block[3]);
  has_spare_ = true;
  return join(block[0], block[1]);
}

std::uint64_t Rng::below(std::uint64_t n) {
  GV_CHECK(n > 0, "there is no number below zero");
  const std::uint64_t limit = -n % n;  // smaller values would be too likely
  for (;;) {
    const std::uint64_t value = bits();
    if (value >= limit) return value % n;
  }
}

double Rng::uniform() {
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double Rng::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Rng::gamma(double shape) {
  GV_CHECK(shape > 0, "shape of a gamma distribution");
  if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v <= 0) continue;
    if (std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

void Rng::fill_normal(std::span<float> out) {
  has_spare_ = false;
  for (std::size_t i = 0; i < out.size(); i += 4 * lanes) {
    const std::array<Lane, 4> words = philox_lanes(counter_, key_);
    std::array<float, 4 * lanes> z{};
    for (std::size_t l = 0; l < lanes; ++l) {
      const auto [z0, z1] = normal_pair(words[0][l], words[1][l]);
      const auto [z2, z3] = normal_pair(words[2][l], words[3][l]);
      z[4 * l] = z0;
      z[4 * l + 1] = z1;
      z[4 * l + 2] = z2;
      z[4 * l + 3] = z3;
    }
    const std::size_t n = std::min(out.size() - i, z.size());
    std::copy_n(z.begin(), n, out.begin() + static_cast<std::ptrdiff_t>(i));
    counter_ += (n + 3) / 4;
  }
}

void Rng::shuffle(std::span<std::uint32_t> values) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
}

void Rng::save(StateWriter& out) const {
  out.name("rng");
  out.u64(key_);
  out.u64(counter_);
  out.u64(spare_bits_);
  out.u64(has_spare_ ? 1 : 0);
}

void Rng::restore(StateReader& in) {
  in.name("rng");
  key_ = in.u64();
  counter_ = in.u64();
  spare_bits_ = in.u64();
  has_spare_ = in.u64() != 0;
}

}  // namespace gv
