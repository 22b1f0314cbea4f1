#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gv {

/// Records which process runs which trial, in a folder shared by several invocations, possibly on
/// several machines. A claim is a file that is created exclusively and names its owner, which
/// renews the file's time while it lives. The claim of a dead owner is taken over: at once if its
/// death is visible (same machine), otherwise after `stale` by the file system's clock, which all
/// share.
class Claims {
 public:
  static constexpr std::chrono::seconds stale{180};
  static constexpr std::chrono::seconds renewal{10};

  /// Creates the folder if it is missing. Throws std::runtime_error with the path.
  explicit Claims(std::string folder);
  /// Releases all claims held.
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// Tries to take a claim; returns false if another process has it.
  bool take(const std::string& name);
  void release(const std::string& name);
  /// Renews the claims held, when due.
  void renew();
  /// Returns the owner, "host a, process 12"; nothing if no live process holds the claim.
  std::optional<std::string> holder(const std::string& name) const;
  /// Returns the names of all claims, including those of dead owners; ascending.
  std::vector<std::string> names() const;
  /// Returns a unique name for our files, from the machine, the process and its start time.
  const std::string& token() const { return token_; }

 private:
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string written_aside() const;
  bool create(const std::string& path) const;
  bool take_over(const std::string& name);
  bool is_stale(const std::string& path) const;
  std::filesystem::file_time_type now() const;

  std::string folder_;
  std::string words_;  ///< content of our claims
  std::string token_;
  std::map<std::string, bool> held_;
  std::chrono::steady_clock::time_point renewed_;
};

}  // namespace gv
