#pragma once

#include <string>
#include <vector>

namespace gv {

struct GemmRow {
  std::string name;  ///< "layer 1 forward"
  int m, n, k;
  double gflops;   ///< median
  double of_peak;  ///< of the FMA peak of the same run
};

struct GemmReport {
  double peak_gflops;
  std::string unit;
  int chains;  ///< of multiply-adds, whose rate the peak is
  std::vector<GemmRow> rows;
  double gemms_us;  ///< all GEMMs of one MLP step, one after the other
  double step_us;   ///< the whole step: gradient and SGD update, 784-256-128-10, batch 64
};

/// The matrix products of an MLP step at its own shapes, beside the peak of the same run; one
/// thread.
GemmReport bench_gemm(double seconds);

}  // namespace gv
