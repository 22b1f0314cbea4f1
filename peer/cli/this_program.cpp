#include "peer/cli/this_program.h"

#include <cstdlib>
#include <filesystem>

namespace gv::cli {

std::string this_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::string peer_program() {
  const char* program = std::getenv("GRAPEVINE_PEER_BINARY");
  return program != nullptr ? program : this_program();
}

}  // namespace gv::cli
