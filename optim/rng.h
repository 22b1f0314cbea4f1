#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "optim/state.h"

namespace gv {

/// Counter-based random numbers (Philox4x32-10; Salmon et al., "Parallel random numbers: as easy as
/// 1, 2, 3", SC 2011) with our own distributions, since those of the standard library differ
/// between implementations. Same seed and streams, same numbers: bits, below, uniform, shuffle and
/// fill_normal to the bit on every IEEE machine, normal and gamma as far as its libm agrees.
/// Copyable; a copy continues independently and equally.
class Rng {
 public:
  explicit Rng(std::uint64_t seed = 0) : key_(seed) {}
  /// Derives a generator for one consumer: Rng(seed).derive("batches").derive(peer). Depends on the
  /// seed and the streams above, not on how many numbers were drawn.
  Rng derive(std::uint64_t stream) const;
  Rng derive(const char* name) const;

  std::uint64_t bits();                  ///< 64 uniform bits
  std::uint64_t below(std::uint64_t n);  ///< uniform in [0, n), unbiased; n > 0
  double uniform();                      ///< [0, 1)
  double normal();                       ///< mean 0, variance 1 (Box-Muller)
  double gamma(double shape);            ///< Gamma(shape, 1), Marsaglia & Tsang 2000; shape > 0
  /// The fast path for vectors: as normal(), in single precision, |z| < 5.8. Starts on a block of
  /// its own, so two fills equal one only when the first is a multiple of four long.
  void fill_normal(std::span<float> out);
  void shuffle(std::span<std::uint32_t> values);  ///< Fisher-Yates

  void save(StateWriter& out) const;  ///< saves the position
  void restore(StateReader& in);

 private:
  std::uint64_t key_ = 0;
  std::uint64_t counter_ = 0;
  std::uint64_t spare_bits_ = 0;
  bool has_spare_ = false;
};

/// The block function itself, for tests against the published vectors.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::uint64_t key);

}  // namespace gv
