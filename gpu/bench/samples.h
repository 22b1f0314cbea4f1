#pragma once

#include "optim/models/objective.h"

// What the benchmark trains on.

namespace gv::gpu {

/// Random bytes of the shape of CIFAR-10: what is in them does not change the time.
Share pictures();

/// Random characters, 128 to a sample: what is in them does not change the time either.
Share text();

}  // namespace gv::gpu
