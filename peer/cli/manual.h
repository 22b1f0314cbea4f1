#pragma once

#include <map>
#include <string>
#include <vector>

#include "peer/cli/describe.h"

namespace gv::cli {

/// Man pages by file name, "grapevine-graph-report.1": one of the program and one of each command.
std::map<std::string, std::string> man_pages(const std::vector<CommandFacts>& all,
                                             const std::string& version);
/// docs/commands.md: the help text of every command.
std::string commands_reference(const std::vector<CommandFacts>& all);
/// docs/fleet-file.md: every key of the fleet file.
std::string keys_reference();

}  // namespace gv::cli
