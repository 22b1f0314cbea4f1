#pragma once

#include "optim/models/objective.h"

// Data that the benchmark trains on.

namespace gv::gpu {

/// Random bytes of the shape of CIFAR-10: their content does not change the time.
Share pictures();

/// Random characters, 128 per sample: their content does not change the time either.
Share text();

}  // namespace gv::gpu
