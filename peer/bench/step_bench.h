#pragma once

#include <cstdint>

#include "optim/models/objective.h"

namespace gv {

struct StepOptions {
  ModelSpec model;
  std::uint32_t batch = 32;
  int threads = 1;
  double seconds = 4;  ///< how long to measure
};

/// Of training steps on made-up data: softmax, mlp and lenet5 on 1 x 28 x 28, resnet20 on
/// 3 x 32 x 32, transformer on 64 of 65 characters.
struct StepReport {
  std::size_t parameters = 0;
  double flops = 0;        ///< of a gradient
  double seconds = 0;      ///< median of a step: minibatch, gradient, SGD update
  double cpu_seconds = 0;  ///< median of its processor time, when there is one thread; else 0
  std::uint64_t steps = 0;
};

StepReport bench_step(const StepOptions& options);

}  // namespace gv
