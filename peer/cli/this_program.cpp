#include "peer/cli/this_program.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/auxv.h>

#include "peer/fleet/read/algorithm_reader.h"

namespace gv::cli {

/// Uses /proc, or without it, as in a bare chroot, the path by which the kernel started the program
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

std::string version_text() {
#if defined(__clang__)
  const std::string compiler =
      fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler =
      fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  return fmt::format("grapevine {} ({}, {}, sources {})", program_version, compiler, GV_BUILD_TYPE,
                     sources_hash);
}

}  // namespace gv::cli
