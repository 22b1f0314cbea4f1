#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gv {

/// All that a file holds, byte for byte; nothing where there is no such file.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace gv
