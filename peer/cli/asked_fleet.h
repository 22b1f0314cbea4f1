#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/launch/program/scout.h"
#include "peer/record/run_folder.h"

namespace gv::cli {

/// Makes a fleet ready that is to run, as assemble() does. Where programs train, one of them is
/// asked what, and stays as `scout`; `binary`: the program `grapevine` that becomes it. Throws
/// std::runtime_error where it cannot be asked.
Assembly assemble_to_run(const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout);
/// Likewise for a fleet that read_file() has read from these options.
Assembly assemble_to_run(Fleet fleet,
                         const FleetOptions& options,
                         const std::string& binary,
                         std::unique_ptr<Scout>& scout);

/// Makes a fleet ready of which figures are wanted: where programs train, one of them takes some
/// steps alone, so that what a model of the fleet's time says has their seconds.
Assembly assemble_to_plan(const FleetOptions& options);

/// Returns how many times longer a step takes where the peers of this machine share its cores than
/// one peer alone on it; of hosts elsewhere nothing is known, and it is 1.
double crowding(const Fleet& fleet);

/// The name of the file in the run's folder that holds what the scout has said.
inline constexpr const char* start_name = "start.safetensors";

/// Keeps what the scout has said in the run's folder, and returns the options by which peers find
/// it; without a scout none.
std::vector<std::string> hand_over(const Scout* scout, const RunFolder& folder);

}  // namespace gv::cli
