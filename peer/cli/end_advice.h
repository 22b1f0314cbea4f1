#pragma once

#include <string>

#include "peer/runtime/assembly.h"
#include "peer/runtime/observer.h"

namespace gv::cli {

/// time_advice() by what the peers have recorded in the run's folder; "": there is none, and nobody
/// is named.
std::string advice_at_end(const Assembly& fleet, const FleetRecord& end, const std::string& folder);

}  // namespace gv::cli
