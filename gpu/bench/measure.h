#pragma once

#include <array>
#include <cstddef>
#include <functional>

#include "gpu/device/device_memory.h"
#include "optim/models/objective.h"
#include "optim/precision.h"

// Times by the device's clock (by the host's: optim/machine/stopwatch.h), and the limits of the
// device.

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

// Data that the benchmark trains on.

/// Random bytes of the shape of CIFAR-10: their content does not change the time.
Share pictures();

/// Random characters, 128 per sample: their content does not change the time either.
Share text();

// The tables of the benchmark, printed in Markdown.

/// Compares the fused mixing and step with a copy in the device's memory.
void put_kernels();

/// Compares the level-1 operations and the codecs with such a copy.
void put_level1_and_codecs();

/// Compares transfers in and out of the replica with plain copies over the bus.
void put_ways_in_and_out();

/// Compares training, in samples per second, with its floor. Returns false if a row failed.
bool put_training();

}  // namespace gv::gpu
