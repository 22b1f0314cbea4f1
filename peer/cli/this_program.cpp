#include "peer/cli/this_program.h"

#include <cstdlib>
#include <filesystem>

#include <sys/auxv.h>

namespace gv::cli {

/// Without /proc, as in a bare chroot, the kernel still tells by which path the program was started
/// (AT_EXECFN of getauxval(3)).
std::string this_program() {
  std::error_code error;
  const std::string link = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (!link.empty()) return link;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): so it is defined
  const auto* const started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return started == nullptr ? "" : std::filesystem::absolute(started, error).string();
}

std::string peer_program() {
  const char* program = std::getenv("GRAPEVINE_PEER_BINARY");
  return program != nullptr ? program : this_program();
}

}  // namespace gv::cli
