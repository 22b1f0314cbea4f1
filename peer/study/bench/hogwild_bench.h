#pragma once

#include <cstdint>
#include <vector>

namespace gv {

struct HogwildRow {
  const char* data = "sparse";  ///< or "dense"
  std::uint32_t threads = 1;
  double lock_free = 0;              ///< steps per second, median
  double locked = 0;                 ///< the same, one step at a time
  double speed_up = 0;               ///< of lock_free, beside one thread alone; median of pairs
  double locked_speed_up = 0;        ///< the same of locked
  double over_locked = 0;            ///< lock_free / locked, median of pairs
  double loss = 0, locked_loss = 0;  ///< on the test set after one pass over the data, from zero
};

struct HogwildReport {
  std::uint32_t samples = 0;
  std::uint32_t features = 0, nonzeros = 0;  ///< of the sparse data
  std::uint32_t dense_features = 0;          ///< none of them zero
  std::uint32_t processors = 0;              ///< that this process may run on
  std::vector<HogwildRow> rows;
};

/// Steps of logistic regression by threads on one x, without a lock and one at a time, on drawn
/// data; all of them in turn, again and again for `seconds`.
HogwildReport bench_hogwild(const std::vector<std::uint32_t>& threads, double seconds);

}  // namespace gv
