#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/launch/launcher/launcher.h"
#include "peer/launch/program/scout.h"
#include "peer/record/fleet_record.h"
#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {
class RunFolder;
}

namespace gv::cli {

// Output and files of `run` when a fleet has ended.

/// Returns whether the user or a signal ended the run.
bool was_interrupted(const LaunchResult& result);

/// Returns the summary's text with "stopped" instead of "finished".
std::string as_stopped(const std::string& summary);

/// Returns the lost peers, one per line.
std::string lost_table(const LaunchResult& result);

/// Returns summary.json, also the last line of --json. Requires the observer's summary.
Json final_json(const Assembly& fleet, const Observer& observer, const LaunchResult& result);

/// Prints the last lines on the screen. Requires the observer's summary. `folder`: its records show
/// which peers were waited for.
void print_end(const Assembly& fleet,
               const Observer& observer,
               const LaunchResult& result,
               const std::string& folder);

/// Returns a text about files that hosts have kept, and how to fetch them.
std::string not_fetched_text(const std::vector<std::string>& hosts, const std::string& run_folder);
/// Returns the line with the command that resumes this run, as a lobby does if it started the run.
std::string how_to_resume(const std::string& run_folder);

/// Returns a text for a run that is over but whose model is not saved. `why`: with the path.
std::string unsaved_text(const std::string& why, const std::string& run_folder);

/// Returns the last line if no peer finished, or if the finished peers hold no whole model.
std::string without_summary(const LaunchResult& result,
                            const Observer& observer,
                            const RunFolder& folder);

/// Prints the attackers, the waiting times, advice and the target, each if there is one. `folder`:
/// has the peers' records, which show which peers were waited for; "" without records.
void print_hints(const Assembly& fleet, const Observer& observer, const std::string& folder);

// Files of a run that is over. `scout`: null except for a fleet of programs.

/// Returns what could not be saved, or "".
std::string save(const Assembly& fleet,
                 const RunFolder& folder,
                 const Observer& observer,
                 const std::string& summary,
                 const Json& ended);

/// Saves a program's whole model, including values that are not parameters, if only the program can
/// write it; returns a text about that.
std::string save_whole(const RunFolder& folder, const Observer& observer, Scout* scout);

/// Writes the end of a run without its model.
void end_without_model(const RunFolder& folder, const std::string& summary, const Json& ended);

}  // namespace gv::cli
