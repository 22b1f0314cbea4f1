#pragma once

#include <string>

#include "peer/record/fleet_record.h"
#include "peer/runtime/assembly.h"

namespace gv::cli {

/// time_advice() by what the peers have recorded in the run's folder; "": there is none, and nobody
/// is named.
std::string advice_at_end(const Assembly& fleet, const FleetRecord& end, const std::string& folder);

}  // namespace gv::cli
