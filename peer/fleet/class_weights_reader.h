#pragma once

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `train.class_weights`: `balanced`, or a weight for some classes by their names. Which
/// classes there are is known when the data are.
ClassWeights read_class_weights(Source& source, const Value* value);

}  // namespace gv
