#pragma once

#include <string>
#include <vector>

#include "peer/cli/command.h"

namespace gv::cli {

/// An option or an argument of a command, as its help text knows it.
struct OptionFacts {
  std::vector<std::string> names;  ///< "--output", "-o"; of an argument its name alone, "FILE"
  std::string value;               ///< what a value is called, "TEXT"; "": a flag
  std::vector<std::string> words;  ///< that a value may be; none: anything
  std::string help;
  bool argument = false;
};

/// A command that is not hidden, or a group of them.
struct CommandFacts {
  std::vector<std::string> path;  ///< {"graph", "report"}; of the program itself empty
  std::string summary;
  std::string examples;
  std::string help;  ///< the whole text of --help
  std::vector<OptionFacts> options;
  std::vector<std::string> commands;  ///< of a group
};

/// The program first, then each command behind its group: what completions, man pages and the
/// reference are made of.
std::vector<CommandFacts> describe(const Command& program);

}  // namespace gv::cli
