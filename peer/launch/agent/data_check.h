#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/launch/agent/data_look.h"
#include "peer/launch/agent/machines.h"

namespace gv {

// Data that does not travel must be on each machine of a fleet, and the same on all. `paths`: of
// each machine, where it has them; of all the same number in the same order.

/// Asks all machines, for their devices too where that is wanted; nothing for those that have
/// failed.
std::vector<std::optional<DataLook>> look_everywhere(
    Machines& machines, const std::vector<std::vector<std::string>>& paths, bool devices = false);

/// Returns 8 hex digits of all that lies there: two machines with the same data have the same ones.
/// "": nothing was asked for, or something is missing.
std::string data_digest(const DataLook& look);

/// Says which host lacks what, and on which it differs from the first that has it, with the first
/// file that does; each with what to do. `hosts`: their names, in the order of `looks`.
std::vector<std::string> data_findings(const std::vector<std::string>& hosts,
                                       const std::vector<std::vector<std::string>>& paths,
                                       const std::vector<std::optional<DataLook>>& looks);

}  // namespace gv
