#pragma once

#include <string>
#include <vector>

#include "optim/models/objective.h"

namespace gv::cli {

/// Says what the model in `path` is worth, which a fleet of programs has trained in the run of that
/// folder: its program is started again, alone, and asked. `sets`: over the run's own values.
/// Throws std::invalid_argument where the fleet is another by now or its program evaluates nothing,
/// and std::runtime_error where it cannot be asked.
Evaluation evaluate_by_program(const std::string& path,
                               const std::string& run_folder,
                               const std::vector<std::string>& sets);

}  // namespace gv::cli
