#pragma once

#include <string>
#include <vector>

#include "peer/runtime/assembly.h"

namespace gv::cli {

/// Finds out who should stand where on the fleet's graph (study/predict/forecast/placement.h),
/// writes that graph and says what it saves, and which other ways are faster
/// (study/predict/forecast/proposal.h), as keys to set; `sets`: those that the fleet was read with.
/// Returns the exit code; throws std::runtime_error where the file cannot be written.
int place_peers(const Assembly& fleet,
                const std::vector<std::string>& sets,
                const std::string& file,
                bool json);

}  // namespace gv::cli
