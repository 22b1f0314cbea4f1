#pragma once

#include <string>

#include "peer/fleet/json/json.h"
#include "peer/launch/program/scout.h"
#include "peer/record/observer.h"
#include "peer/runtime/assembly.h"

namespace gv {
class RunFolder;
}

namespace gv::cli {

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
