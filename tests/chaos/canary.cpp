#include <cstdlib>

#include "peer/cli/command.h"
#include "tests/mutants/mutants.h"

/// The program with one deliberate bug in its peers: own_degree, or what GRAPEVINE_MUTANT names.
int main(int argc, char** argv) {
  const char* name = std::getenv("GRAPEVINE_MUTANT");
  return gv::cli::run_program(
      argc, argv, gv::mutants::parts_of(name != nullptr ? name : "own_degree"));
}
