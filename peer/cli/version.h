#pragma once

#include <string>

namespace gv::cli {

/// "grapevine 0.1.0 (g++ 12.2.0, Release)"
std::string version_text();

}  // namespace gv::cli
