#pragma once

#include "peer/fleet/model_profile.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Returns a profile from floating-point operation counts, for a model that was not measured.
ModelProfile counted_profile(const Assembly& fleet);

}  // namespace gv
