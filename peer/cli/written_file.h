#pragma once

#include <string>
#include <string_view>

namespace gv::cli {

/// Writes a file that the user has asked for. Throws std::runtime_error with its path.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace gv::cli
