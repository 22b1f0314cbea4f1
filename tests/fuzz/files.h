#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <stdlib.h>

namespace gv::fuzz {

/// Where inputs lie for readers that take a path: a folder of the process, gone at its end.
class Files {
 public:
  Files() {
    folder_ = (std::filesystem::path(base()) / "grapevine-fuzz-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("cannot make " + folder_);
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  const std::string& folder() const { return folder_; }
  /// Writes it anew, with the folders above it; gives the path.
  std::string write(const std::string& name, std::string_view bytes) const {
    const std::string path = folder_ + "/" + name;
    if (name.find('/') != std::string::npos)
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

 private:
  static std::string base() {
    const char* const named = ::getenv("TMPDIR");
    return named == nullptr ? "/tmp" : named;
  }

  std::string folder_;
};

}  // namespace gv::fuzz
