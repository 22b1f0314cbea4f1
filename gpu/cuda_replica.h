#pragma once

#include <memory>

#include "optim/replica.h"

namespace gv {

/// Whether this binary was built with CUDA and a device answers.
bool cuda_available();

/// Replica on CUDA device `device`. Throws std::runtime_error when there is none.
std::unique_ptr<Replica> make_cuda_replica(std::unique_ptr<Objective> objective,
                                           const OptimizerSpec& optimizer,
                                           std::uint32_t batch,
                                           Rng init,
                                           int device);

}  // namespace gv
