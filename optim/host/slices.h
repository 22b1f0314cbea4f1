#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

// The division of one job's arithmetic over threads. A sum in floating point depends on its order,
// so nothing here may depend on the number of threads: work is cut into slices by its shape, each
// slice is computed by one thread, and no sum crosses the border of a slice. oneDNN would divide by
// the number of threads (its products for AVX2 even split the terms of a sum), so each of its calls
// runs on one thread, and slices divide the work.

namespace gv {

/// Sets the number of threads for the arithmetic of the calling thread; the default is 1. Changes
/// no bit. Threads without work sleep.
void set_compute_threads(int threads);

/// Calls slice(0) ... slice(n - 1), each once, on the threads of the calling thread; returns when
/// all are done. Work inside a slice is not divided again.
void run_slices(std::size_t n, const std::function<void(std::size_t)>& slice);

/// Returns the number of slices for work of `flops` (at the speed of a matrix product) on `extent`
/// rows: each is worth waking a thread for, and there are at most `most_slices`.
std::size_t slices_of(double flops, std::size_t extent);
inline constexpr std::uint32_t most_slices = 16;

/// Returns the begin of slice i of n of [0, extent); slice n begins at the end. All borders except
/// the end are multiples of `step`.
std::size_t slice_begin(std::size_t i, std::size_t n, std::size_t extent, std::size_t step = 1);

/// The rows of a batch, cut into slices of equal size; the last may be smaller.
struct RowSlices {
  std::uint32_t rows = 0;
  std::uint32_t rows_of_one = 0;

  static RowSlices for_work(double flops, std::uint32_t rows, std::uint32_t most = most_slices);
  /// Calls each(first row, number of rows).
  template <class Each>
  void each(Each each) const {
    for (std::uint32_t row = 0; row < rows; row += rows_of_one)
      each(row, std::min(rows_of_one, rows - row));
  }
};

/// Keeps oneDNN on the calling thread; call it before each of its calls.
void keep_library_on_this_thread();

}  // namespace gv
