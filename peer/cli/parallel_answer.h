#pragma once

#include <string>

#include "peer/runtime/assembly.h"

namespace gv::cli {

/// Says what dividing the fleet's model over its peers is worth (predict/parallel/proposals.h),
/// with the keys to set; `profile`: a file of `grapevine profile`, ""; that of the fleet file, or
/// else the model's operations. Returns the exit code; throws FleetError and std::runtime_error
/// where the profile is none of this model, and std::invalid_argument for a model without layers.
int divide_model(const Assembly& fleet, const std::string& profile, bool json);

}  // namespace gv::cli
