#pragma once

#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// What a model takes by its floating-point operations, where nobody has measured it.
ModelProfile counted_profile(const Assembly& fleet);

}  // namespace gv
