#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gv {

// What lies on a machine of a fleet, as its agent tells.

/// A file below a path, by what is in it.
struct FileDigest {
  std::string name;  ///< relative to the path; "": the path itself
  std::uint64_t bytes = 0;
  std::string digest{};  ///< XXH3, 128 bits, in hex; "": only its size was looked at
};

/// Looks at a file, or at the regular files below a folder in the order of their names: at the
/// content of the first 1 GiB, at the size of the rest; of very many files only the first are told.
/// Nothing: it is not there. Throws std::runtime_error with the path when it cannot be read.
std::optional<std::vector<FileDigest>> digests_of(const std::string& path);

/// A CUDA device that its program can use.
struct DeviceFacts {
  int number = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
};

/// The answer of one machine on a list of paths, and on devices.
struct DataLook {
  std::uint64_t free_bytes = 0;  ///< of the disk that the agent's cache is on
  std::vector<std::optional<std::vector<FileDigest>>> data{};
  std::optional<std::vector<DeviceFacts>> devices{};  ///< nothing: it was not asked, or is old
  std::string no_device{};                            ///< why there is none
};

/// Returns what lies there as an agent's answer; `folder`: its cache; `devices`: they are asked
/// for, which takes a second where there are some. Throws as digests_of does.
std::string look_text(const std::vector<std::string>& paths,
                      const std::string& folder,
                      bool devices = false);
/// Throws std::exception: it is no such text, or not of so many paths.
DataLook parse_look(const std::string& text, std::size_t paths);

}  // namespace gv
