#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "gpu/device/memory.h"
#include "optim/precision.h"

// How long the device takes by its own clock (by the host's: optim/stopwatch.h), and what it could
// do at best.

namespace gv::gpu {

/// Seconds of one of `times` equal pieces of work in the stream, by the device's clock.
double device_seconds(const Stream& stream, int times, const std::function<void()>& work);

/// Bytes per second of copies inside the device's memory, read and written.
double device_copy(const Stream& stream);

/// Bytes per second over the bus, page-locked memory.
double bus_speed(cudaMemcpyKind way, std::size_t floats, const Stream& stream);

inline constexpr std::array precisions{Precision::fp32, Precision::tf32, Precision::bf16};

/// The speeds that the device could reach.
struct Limits {
  double copy;                   ///< bytes per second, inside its memory
  std::array<double, 3> matrix;  ///< operations per second, by precision
};

/// Measured now, on the device in use.
Limits measure_limits();

}  // namespace gv::gpu
