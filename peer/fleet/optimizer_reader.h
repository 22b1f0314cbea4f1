#pragma once

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `train.optimizer`, its schedule included; may be null. Problems become diagnostics.
OptimizerSpec read_optimizer(Source& source, const Value* value);

}  // namespace gv
