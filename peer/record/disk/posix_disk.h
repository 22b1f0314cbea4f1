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

/// The seam to the file system, after LevelDB's Env: as much of it as checkpoints need. Nothing
/// throws; each call says what went wrong ("No space left on device"), without the path.
///
/// Power loss: what sync and sync_folder did not make durable may be there afterwards, or not, or
/// in part.
class Disk {
 public:
  virtual ~Disk() = default;
  /// Creates the file, for its owner alone, or empties it first; a link is refused. After a failure
  /// some of the bytes may be there.
  [[nodiscard]] virtual Verdict write(const std::string& path,
                                      std::span<const std::byte> bytes) = 0;
  [[nodiscard]] virtual Verdict sync(const std::string& path) = 0;  ///< the content is durable
  /// Within one folder; replaces `to` if it is there, and never leaves a half of it.
  [[nodiscard]] virtual Verdict rename(const std::string& from, const std::string& to) = 0;
  /// Makes what the folder lists durable: files made, renamed and removed.
  [[nodiscard]] virtual Verdict sync_folder(const std::string& folder) = 0;
  /// `names` of the files in it, ascending; none when there is no such folder.
  [[nodiscard]] virtual Verdict list(const std::string& folder,
                                     std::vector<std::string>& names) = 0;
  [[nodiscard]] virtual Verdict read(const std::string& path, std::vector<std::byte>& bytes) = 0;
  [[nodiscard]] virtual Verdict remove(const std::string& path) = 0;
  /// Makes it with its parents; those that it makes are durable. Well when it is there already.
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
