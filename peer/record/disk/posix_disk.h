#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "optim/error_text.h"

namespace gv {

/// File system operations that checkpoints need, after LevelDB's Env. No operation throws; each
/// returns the reason for its failure ("No space left on device"), without the path, or "".
///
/// Power loss: whatever sync and sync_folder have not made durable may survive fully, partly or
/// not.
class Disk {
 public:
  virtual ~Disk() = default;
  /// Writes `bytes` to the file, which is created for its owner alone or emptied first; refuses a
  /// symbolic link. After a failure, part of the bytes may be there.
  [[nodiscard]] virtual Verdict write(const std::string& path,
                                      std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual Verdict sync(const std::string& path) = 0;  ///< makes the content durable
  /// Renames within one folder; replaces `to` atomically if it exists.
  [[nodiscard]] virtual Verdict rename(const std::string& from, const std::string& to) = 0;
  /// Makes the folder's entries durable: files created, renamed and removed.
  [[nodiscard]] virtual Verdict sync_folder(const std::string& folder) = 0;
  /// Fills `names` with the folder's files, ascending; with none if there is no such folder.
  [[nodiscard]] virtual Verdict list(const std::string& folder,
                                     std::vector<std::string>& names) = 0;
  [[nodiscard]] virtual Verdict read(const std::string& path, std::vector<std::byte>& bytes) = 0;
  [[nodiscard]] virtual Verdict remove(const std::string& path) = 0;
  /// Makes the folder and its parents durably. An existing folder is no error.
  [[nodiscard]] virtual Verdict make_folder(const std::string& folder) = 0;
};

/// The machine's own file system.
class PosixDisk : public Disk {
 public:
  Verdict write(const std::string& path, std::span<const std::byte> bytes) override;
  Verdict sync(const std::string& path) override;
  Verdict rename(const std::string& from, const std::string& to) override;
  Verdict sync_folder(const std::string& folder) override;
  Verdict list(const std::string& folder, std::vector<std::string>& names) override;
  Verdict read(const std::string& path, std::vector<std::byte>& bytes) override;
  Verdict remove(const std::string& path) override;
  Verdict make_folder(const std::string& folder) override;
};

/// The machine's file system without waiting for durability, for checkpoints whose loss costs only
/// some work. Checksums detect what a power loss truncates.
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
