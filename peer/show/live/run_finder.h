#pragma once

#include <optional>
#include <string>

#include "gossip/seam/message.h"
#include "peer/record/report/metrics.h"

namespace gv {

/// Returns the folder that a command means by RUN: RUN itself, or runs/RUN; "" is the newest run in
/// runs/, running ones before ended ones. Throws std::invalid_argument if there is none.
std::string find_run(const std::string& wanted);

/// Returns the newest round of which every peer has a checkpoint, by the names of the files.
std::optional<Round> common_checkpoint(const std::string& folder);

/// One line that shows how to resume a run that ended early, or to keep checkpoints for that.
std::string resume_line(const std::string& folder);

/// Describes the end of a run that is no longer running, for people, from its folder. Several
/// lines, without a newline at the end.
std::string end_of_run(const std::string& folder);

}  // namespace gv
