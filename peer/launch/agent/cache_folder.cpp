#include "peer/launch/agent/cache_folder.h"

#include <filesystem>
#include <stdexcept>

#include "optim/cache_home.h"

namespace gv {

std::string cache_folder(const std::string& name) {
  namespace fs = std::filesystem;
  const std::string home = cache_home();
  if (home.empty())
    throw std::runtime_error(
        "no folder for a cache is known: neither HOME nor XDG_CACHE_HOME is set");
  const fs::path folder = fs::path(home) / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) throw std::runtime_error(folder.string() + ": " + error.message());
  return folder.string();
}

}  // namespace gv
