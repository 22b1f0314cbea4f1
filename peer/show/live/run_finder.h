#pragma once

#include <optional>
#include <string>

#include "gossip/message.h"
#include "peer/record/report/metrics.h"

namespace gv {

/// The folder that a command means by RUN: itself, or runs/RUN; "" means the newest in runs/, one
/// that goes on before all that have ended. Throws std::invalid_argument when there is none.
std::string find_run(const std::string& wanted);

/// The newest round of which every peer of the folder has a checkpoint, by the names of the files.
std::optional<Round> common_checkpoint(const std::string& folder);

/// Says how to go on with a run that was ended early, or how to keep what one could go on from. One
/// line.
std::string resume_line(const std::string& folder);

/// Tells what a folder says of a run that does not go on any more, for people: its end, or what is
/// known of it. Several lines, the last without its end.
std::string end_of_run(const std::string& folder);

}  // namespace gv
