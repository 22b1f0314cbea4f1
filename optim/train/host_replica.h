#pragma once

#include <memory>

#include "optim/models/model.h"
#include "optim/train/replica.h"

namespace gv {

/// Replica in host memory. x starts as objective->initialize(x, init). `matrices`: what an
/// optimizer of kind `muon` steps as matrices (muon.h); the others have no use for them.
std::unique_ptr<Replica> make_host_replica(std::unique_ptr<Objective> objective,
                                           const OptimizerSpec& optimizer,
                                           std::uint32_t batch,
                                           Rng init,
                                           const std::vector<HiddenMatrix>& matrices = {});

}  // namespace gv
