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

/// Of a file, or of the regular files below a folder in the order of their names. Of the first 1
/// GiB the content is looked at, of the rest the size; of very many files only the first are told.
/// Nothing: it is not there. Throws std::runtime_error with the path when it cannot be read.
std::optional<std::vector<FileDigest>> digests_of(const std::string& path);

/// What one machine has of a list of paths.
struct DataLook {
  std::uint64_t free_bytes = 0;  ///< of the disk that the agent's cache is on
  std::vector<std::optional<std::vector<FileDigest>>> data{};
};

/// As an agent's answer; `folder`: its cache. Throws as digests_of does.
std::string look_text(const std::vector<std::string>& paths, const std::string& folder);
/// Throws std::exception: it is no such text, or not of so many paths.
DataLook parse_look(const std::string& text, std::size_t paths);

}  // namespace gv
