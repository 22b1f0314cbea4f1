#include "peer/cli/command.h"

int main(int argc, char** argv) {
  return gv::cli::run_program(argc, argv);
}
