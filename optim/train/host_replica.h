#pragma once

#include <memory>

#include "optim/train/replica.h"

namespace gv {

/// Replica in host memory. x starts as objective->initialize(x, init).
std::unique_ptr<Replica> make_host_replica(std::unique_ptr<Objective> objective,
                                           const OptimizerSpec& optimizer,
                                           std::uint32_t batch,
                                           Rng init);

}  // namespace gv
