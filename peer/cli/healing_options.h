#pragma once

#include <cstdint>

#include "peer/cli/fleet_options.h"

namespace gv::cli {

/// `simulate --faults heal`: one accident after the other, each in a run of its own.
int run_healing(const FleetOptions& file, std::uint64_t length_ms);

}  // namespace gv::cli
