#pragma once

#include <cstdint>

namespace gv {

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): the random graphs' own generator, since graph/
/// depends on nothing.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = -n % n;
    for (;;) {
      const std::uint64_t value = bits();
      if (value >= limit) return value % n;
    }
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace gv
