#include "peer/cli/version.h"

#include <fmt/format.h>

#include "peer/fleet/algorithm_reader.h"

namespace gv::cli {

std::string version_text() {
#if defined(__clang__)
  const std::string compiler =
      fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler =
      fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  return fmt::format(
      "grapevine {} ({}, {}, sources {})", GV_VERSION, compiler, GV_BUILD_TYPE, sources_hash);
}

}  // namespace gv::cli
