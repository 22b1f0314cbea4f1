#pragma once

#include <string>

namespace gv {

/// The folder of this program in this user's cache (XDG Base Directory Specification): grapevine in
/// XDG_CACHE_HOME, or in ~/.cache. Empty if neither is known.
std::string cache_home();

/// Returns the bytes of a file; "" if it cannot be read.
std::string text_of_file(const std::string& path);

}  // namespace gv
