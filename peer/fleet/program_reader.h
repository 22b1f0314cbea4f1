#pragma once

#include <map>
#include <optional>
#include <string>

#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Reads `program`, a list of words or `{ command, env }`; null: nothing. Problems become
/// diagnostics of `source`.
std::optional<ProgramSpec> read_program(Source& source, const Value* value);

/// `env: torchrun`: the names by which torchrun tells a process who it is. Each value is a word
/// that stands for the peer's own, "{rank}" and so on (peer/launch/program/own_program.h).
const std::map<std::string, std::string>& torchrun_env();

/// Refuses what cannot stand beside the program of a fleet that has been read: what the program
/// brings itself, and methods that it cannot follow. Problems become diagnostics.
void check_program(Source& source, const Value& root, const Fleet& fleet);

/// The message with the line of the file that names the fleet's program.
std::string about_program(const Fleet& fleet, const std::string& message, const std::string& help);

}  // namespace gv
