#pragma once

#include <string>

#include "optim/models/objective.h"
#include "peer/cli/fleet_options.h"

namespace gv::cli {

/// Returns what the model in `path` is worth, which a fleet of programs has trained: the program of
/// the fleet in `options` is started again, alone, and asked. `digest`: of that fleet when the run
/// began; "": the user names another one. Throws std::invalid_argument if the fleet has changed
/// since then or its program evaluates nothing, and std::runtime_error if it cannot be asked.
Evaluation evaluate_by_program(const std::string& path,
                               const std::string& run_folder,
                               FleetOptions options,
                               const std::string& digest);

}  // namespace gv::cli
