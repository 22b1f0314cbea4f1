#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "gpu/device/device_memory.h"
#include "optim/precision.h"

// Times by the device's clock (by the host's: optim/stopwatch.h), and the limits of the device.

namespace gv::gpu {

/// Runs `work` `times` times in the stream. Returns the mean seconds of one run, by the device's
/// clock.
double device_seconds(const Stream& stream, int times, const std::function<void()>& work);

/// Returns the bytes per second of copies inside the device's memory, read and written.
double device_copy(const Stream& stream);

/// Returns the bytes per second over the bus, from or to page-locked memory.
double bus_speed(cudaMemcpyKind way, std::size_t floats, const Stream& stream);

inline constexpr std::array precisions{Precision::fp32, Precision::tf32, Precision::bf16};

/// Speeds that the device can reach.
struct Limits {
  double copy;                   ///< bytes per second, inside its memory
  std::array<double, 3> matrix;  ///< operations per second, by precision
};

/// Measures the limits of the current device.
Limits measure_limits();

}  // namespace gv::gpu
