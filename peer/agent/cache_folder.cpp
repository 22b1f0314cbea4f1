#include "peer/agent/cache_folder.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace gv {

std::string cache_folder(const std::string& name) {
  namespace fs = std::filesystem;
  fs::path folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    folder = cache;
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    folder = fs::path(home) / ".cache";
  else
    throw std::runtime_error(
        "no folder for a cache is known: neither HOME nor XDG_CACHE_HOME is set");
  folder /= fs::path("grapevine") / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) throw std::runtime_error(folder.string() + ": " + error.message());
  return folder.string();
}

}  // namespace gv
