#pragma once

#include <cstdint>
#include <vector>

namespace gv {

struct FmaPeak {
  double gflops = 0;      ///< single precision, one thread
  const char* unit = "";  ///< "AVX-512", "AVX2", "portable"
  int chains = 0;         ///< of dependent multiply-adds, side by side
};

/// Vectors that go through v <- a v + b, each from a start of its own, on one unit. Where two began
/// with the same values a compiler could compute them once, and the peak would be one that the
/// processor does not have.
struct FmaUnit {
  const char* name;
  int chains;  ///< enough to hide the latency of two pipelines, few enough for the registers
  int width;   ///< floats of a vector
  /// Returns all lanes of all chains, as they are after so many steps.
  std::vector<float> (*run)(std::int64_t steps);
  double flops_per_step() const { return 2.0 * chains * width; }
};

/// Returns those of this processor, the widest first.
std::vector<FmaUnit> fma_units();

/// The best rate of the widest unit within about `seconds`.
FmaPeak measure_fma_peak(double seconds);

}  // namespace gv
