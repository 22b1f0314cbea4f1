#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace gv {

/// The one in the middle of at least one value; of two there, the larger.
double median(std::vector<double> values);
/// A quarter of at least one value is below it.
double lower_quartile(std::vector<double> values);

/// The repetitions of a piece of work that is measured.
struct Repetition {
  double seconds = 1;     ///< at least so long in all,
  std::size_t least = 5;  ///< and so many measurements
  int calls = 1;          ///< in one measurement
  int warmup = 1;         ///< calls before the first
};

/// Medians over all measurements, of one call.
struct MedianTime {
  double seconds = 0;
  double cpu_seconds = 0;  ///< of the calling thread
  std::size_t measurements = 0;
};
MedianTime median_time(const Repetition& repetition, const std::function<void()>& work);

}  // namespace gv
