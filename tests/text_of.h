#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gv {

/// Returns the bytes of a file; an empty text if there is no such file.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace gv
