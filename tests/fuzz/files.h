#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/scratch_folder.h"

namespace gv::fuzz {

/// A folder of inputs for readers that take a path, removed at the end of the process.
class Files {
 public:
  const std::string& folder() const { return folder_.path(); }
  /// Overwrites a file, creates the folders above it, and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::string path = folder() + "/" + name;
    if (name.find('/') != std::string::npos)
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

 private:
  ScratchFolder folder_;
};

}  // namespace gv::fuzz
