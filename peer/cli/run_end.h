#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/launch/launcher.h"
#include "peer/launch/program/scout.h"
#include "peer/record/fleet_record.h"
#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly.h"

namespace gv {
class RunFolder;
}

namespace gv::cli {

// What `run` says and writes when a fleet has ended.

/// Returns whether its user or a signal ended it.
bool was_interrupted(const LaunchResult& result);

/// The summary's text with "stopped" instead of "finished".
std::string as_stopped(const std::string& summary);

/// The peers that were lost, a line each.
std::string lost_table(const LaunchResult& result);

/// summary.json and the last line of --json. The observer has a summary.
Json final_json(const Assembly& fleet, const Observer& observer, const LaunchResult& result);

/// The last lines on the screen. The observer has a summary.
/// What is recorded in `folder` says who was waited for.
void print_end(const Assembly& fleet,
               const Observer& observer,
               const LaunchResult& result,
               const std::string& folder);

/// Says what the hosts have kept, and how to get it.
std::string not_fetched_text(const std::vector<std::string>& hosts, const std::string& run_folder);

/// The run is over and its model is not there. `why`: with the path.
std::string unsaved_text(const std::string& why, const std::string& run_folder);

/// The last line where nobody finished, or what finished is no model.
std::string without_summary(const LaunchResult& result,
                            const Observer& observer,
                            const RunFolder& folder);

/// time_advice() by what the peers have recorded in the run's folder; "": there is none, and nobody
/// is named.
std::string advice_at_end(const Assembly& fleet, const FleetRecord& end, const std::string& folder);

// What is kept of a run in its folder when it is over. `scout`: null but for a fleet of programs.

/// Returns what could not be saved; "": nothing.
std::string save(const Assembly& fleet,
                 const RunFolder& folder,
                 const Observer& observer,
                 const std::string& summary,
                 const Json& ended);

/// Saves all of a program's model, also what is no parameter, where only the program can write it;
/// returns the words for that.
std::string save_whole(const RunFolder& folder, const Observer& observer, Scout* scout);

/// The run is over, with what it says of itself but without its model.
void end_without_model(const RunFolder& folder, const std::string& summary, const Json& ended);

}  // namespace gv::cli
