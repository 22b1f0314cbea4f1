#include "optim/machine/cache_home.h"

#include <cstdlib>

namespace gv {

std::string cache_home() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + "/grapevine";
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/grapevine" : "";
}

}  // namespace gv
