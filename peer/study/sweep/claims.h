#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gv {

/// The record of who does which trial, in a folder that several invocations share, on several
/// machines too. A claim is a file that is created exclusively and says who made it; its time is
/// renewed while its owner lives. One whose owner has died is taken over: at once where that can be
/// seen (the same machine), else after `stale` by the file system's clock, which is that of all.
class Claims {
 public:
  static constexpr std::chrono::seconds stale{180};
  static constexpr std::chrono::seconds renewal{10};

  /// Makes the folder where it is missing. Throws std::runtime_error with the path.
  explicit Claims(std::string folder);
  /// Gives back what is held.
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// Takes it, and returns whether it is ours now; false: somebody else's.
  bool take(const std::string& name);
  void release(const std::string& name);
  /// Renews what is held, when it is due.
  void renew();
  /// Says who holds it: "host a, process 12"; nothing when nobody alive does.
  std::optional<std::string> holder(const std::string& name) const;
  /// Returns the names of all claims, those of the dead as well; ascending.
  std::vector<std::string> names() const;
  /// Ours alone, for names of files: of the machine, the process and when it began.
  const std::string& token() const { return token_; }

 private:
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string written_aside() const;
  bool create(const std::string& path) const;
  bool take_over(const std::string& name);
  bool is_stale(const std::string& path) const;
  std::filesystem::file_time_type now() const;

  std::string folder_;
  std::string words_;  ///< of our claims
  std::string token_;
  std::map<std::string, bool> held_;
  std::chrono::steady_clock::time_point renewed_;
};

}  // namespace gv
