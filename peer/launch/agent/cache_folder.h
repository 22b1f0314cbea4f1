#pragma once

#include <string>

namespace gv {

/// A folder of this name below XDG_CACHE_HOME/grapevine, or ~/.cache/grapevine; made, for its
/// owner alone. Throws std::runtime_error with the path.
std::string cache_folder(const std::string& name);

}  // namespace gv
