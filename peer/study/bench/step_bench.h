#pragma once

#include <cstdint>

#include "optim/models/model.h"

namespace gv {

struct StepOptions {
  ModelSpec model;
  std::uint32_t batch = 32;
  int threads = 1;
  double seconds = 4;  ///< how long to measure
};

/// A report of training on made-up data: pictures of the row's bench_image, or 64 of 65 characters.
struct StepReport {
  std::size_t parameters = 0;
  double flops = 0;        ///< of a gradient
  double seconds = 0;      ///< median of a step: minibatch, gradient, SGD update
  double cpu_seconds = 0;  ///< median of its processor time, when there is one thread; else 0
  std::uint64_t steps = 0;
};

StepReport bench_step(const StepOptions& options);

}  // namespace gv
