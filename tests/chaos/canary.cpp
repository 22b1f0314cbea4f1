#include <cstdlib>

#include "peer/cli/command.h"
#include "tests/mutants/mutants.h"

/// The program with one deliberate bug in its peers: GRAPEVINE_MUTANT names it, else own_degree.
int main(int argc, char** argv) {
  const char* name = std::getenv("GRAPEVINE_MUTANT");
  return gv::cli::run_program(argc, argv,
                              gv::mutants::parts_of(name != nullptr ? name : "own_degree"));
}
