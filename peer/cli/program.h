#pragma once

#include "peer/cli/command.h"
#include "peer/runtime/peer_plan.h"

namespace gv::cli {

/// The row of the program itself, with all commands.
Command whole_program(const PeerParts& parts = {});

/// The program `grapevine`, whole: reads the arguments, runs the command they name, prints errors
/// on stderr and returns the exit code (peer/runtime/exit_code.h). Nothing is thrown. `parts` take
/// the place of the real ones in the command `peer`; a program with a planted bug is made so.
int run_program(int argc, char** argv, const PeerParts& parts = {});

}  // namespace gv::cli
