#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace gv {

/// The median of at least one value; the larger of two middle values.
double median(std::vector<double> values);
/// The lower quartile of at least one value.
double lower_quartile(std::vector<double> values);

/// The repetitions of a measurement.
struct Repetition {
  double seconds = 1;     ///< least total time,
  std::size_t least = 5;  ///< and least number of measurements
  int calls = 1;          ///< calls per measurement
  int warmup = 1;         ///< calls before the first
};

/// Medians over all measurements, per call.
struct MedianTime {
  double seconds = 0;
  double cpu_seconds = 0;  ///< calling thread's time
  std::size_t measurements = 0;
};
MedianTime median_time(const Repetition& repetition, const std::function<void()>& work);

}  // namespace gv
