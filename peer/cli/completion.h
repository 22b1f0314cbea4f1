#pragma once

#include <string>
#include <vector>

#include "peer/cli/describe.h"

namespace gv::cli {

/// A script that completes commands, options and their words; files everywhere else.
std::string bash_completion(const std::vector<CommandFacts>& all);
std::string zsh_completion(const std::vector<CommandFacts>& all);
std::string fish_completion(const std::vector<CommandFacts>& all);

}  // namespace gv::cli
