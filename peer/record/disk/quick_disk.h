#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "peer/record/disk/posix_disk.h"

namespace gv {

/// The machine's file system without waiting for it to be durable: for checkpoints whose loss costs
/// some work and nothing else. What a power loss halves is told by its checksum.
class QuickDisk : public PosixDisk {
 public:
  Verdict sync(const std::string& path) override { return is_there(path); }
  Verdict sync_folder(const std::string& folder) override { return is_there(folder); }
  Verdict make_folder(const std::string& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    return error ? error.message() : "";
  }

 private:
  static Verdict is_there(const std::string& path) {
    std::error_code error;
    if (std::filesystem::exists(path, error)) return "";
    return error ? error.message() : std::generic_category().message(ENOENT);
  }
};

}  // namespace gv
