#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

// How the arithmetic of one job is divided over threads. A sum in floating point depends on its
// order, so nothing here may depend on how many threads there are: work is cut into slices by its
// shape alone, each slice is computed by one thread, and no sum crosses the border of a slice.
// oneDNN would divide by the number of threads (its products for AVX2 even split the terms of a
// sum), so each of its calls runs on one thread, and we cut around it.

namespace gv {

/// Threads that the arithmetic of the calling thread may use from now on; 1 in a thread that never
/// asked. Changes no bit. Threads without work sleep.
void set_compute_threads(int threads);

/// Calls slice(0) ... slice(n - 1), each once, on the threads of the calling thread; returns when
/// all are done. A slice that divides its own work again does it alone.
void run_slices(std::size_t n, const std::function<void(std::size_t)>& slice);

/// Returns into how many slices work of `flops` (as fast as those of a matrix product) on `extent`
/// rows is cut: so that each is worth waking a thread for, and at most `most_slices`.
std::size_t slices_of(double flops, std::size_t extent);
inline constexpr std::uint32_t most_slices = 16;

/// Returns where slice i of n of [0, extent) begins; slice n begins at the end. All borders are
/// multiples of `step`, but for the end.
std::size_t slice_begin(std::size_t i, std::size_t n, std::size_t extent, std::size_t step = 1);

/// The rows of a batch, cut into slices of equally many; the last may have fewer.
struct RowSlices {
  std::uint32_t rows = 0;
  std::uint32_t rows_of_one = 0;

  static RowSlices for_work(double flops, std::uint32_t rows, std::uint32_t most = most_slices);
  /// each(first row, how many)
  template <class Each>
  void each(Each each) const {
    for (std::uint32_t row = 0; row < rows; row += rows_of_one)
      each(row, std::min(rows_of_one, rows - row));
  }
};

/// Keeps oneDNN on the calling thread; comes before each call of it.
void keep_library_on_this_thread();

}  // namespace gv
