#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "peer/runtime/assembly.h"

namespace gv {

/// Training on one device with one batch: gradient and optimizer step, nothing sent.
struct DeviceRow {
  Device device;
  int threads = 1;  ///< of the CPU
  std::uint32_t batch = 0;
  double samples_per_second = 0;  ///< median
  double gflops = 0;              ///< of the gradient alone, as the simulator counts it
  double speed = 0;               ///< samples per second over those of speed 1
};

/// Measures the fleet's model on the CPU, with each number of threads that its peers have, and on
/// every CUDA device there is, with each batch for about `seconds`. Alone: peers that share a
/// machine share this. `on_row` is called as each is measured. beside: samples per second of speed
/// 1, measured on another machine; 0: those of the first device here, at the same batch.
std::vector<DeviceRow> bench_devices(const Assembly& fleet,
                                     const std::vector<std::uint32_t>& batches,
                                     double seconds,
                                     double beside,
                                     const std::function<void(const DeviceRow&)>& on_row);

}  // namespace gv
