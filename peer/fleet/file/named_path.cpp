#include "peer/fleet/file/named_path.h"

#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Names what is not there; what else the system says of it stands behind the path.
std::string not_there(const std::string& path, fs::file_type wanted) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == wanted) return "";
  if (!error || error == std::errc::no_such_file_or_directory) return path;
  return fmt::format("{} ({})", path, error.message());
}

}  // namespace

std::string with_home(const std::string& path) {
  const char* const home = std::getenv("HOME");
  const bool named = path == "~" || path.starts_with("~/");
  return named && home != nullptr && *home != '\0' ? home + path.substr(1) : path;
}

std::string read_path(Source& source, const Value& value, const fs::path& folder) {
  const auto path = read_word(source, value);
  return path ? (folder / with_home(*path)).lexically_normal().string() : "";
}

std::string no_file(const std::string& path) {
  return not_there(path, fs::file_type::regular);
}

std::string no_folder(const std::string& path) {
  return not_there(path, fs::file_type::directory);
}

}  // namespace gv
