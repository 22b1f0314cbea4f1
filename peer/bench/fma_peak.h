#pragma once

namespace gv {

struct FmaPeak {
  double gflops = 0;      ///< single precision, one thread
  const char* unit = "";  ///< "AVX-512", "AVX2", "portable"
};

/// Runs independent chains of fused multiply-adds for about `seconds` on the widest unit this
/// processor has.
FmaPeak measure_fma_peak(double seconds);

}  // namespace gv
