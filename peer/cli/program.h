#pragma once

namespace gv::cli {

/// The program `grapevine`, whole: reads the arguments, runs the command they name, prints errors
/// on stderr and returns the exit code (peer/runtime/exit_code.h). Nothing is thrown.
int run_program(int argc, char** argv);

}  // namespace gv::cli
