#pragma once

#include <memory>

#include "optim/models/model.h"
#include "optim/train/replica.h"

namespace gv {

/// Makes a replica in host memory. x starts as objective->initialize(x, init). `matrices` are the
/// matrices of an optimizer of kind `muon` (muon.h); the others ignore them.
std::unique_ptr<Replica> make_host_replica(std::unique_ptr<Objective> objective,
                                           const OptimizerSpec& optimizer,
                                           std::uint32_t batch,
                                           Rng init,
                                           const std::vector<HiddenMatrix>& matrices = {});

}  // namespace gv
