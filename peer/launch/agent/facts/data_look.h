#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gv {

// Data and devices on a machine of a fleet, as its agent reports them.

/// A file below a path, identified by its content.
struct FileDigest {
  std::string name;  ///< relative to the path; "" for the path itself
  std::uint64_t bytes = 0;
  std::string digest{};  ///< XXH3, 128 bits, in hex; "" if only the size was read
  void fields(auto& v) { v("name", name), v("bytes", bytes), v("digest", digest); }
};

/// Returns the digests of a file, or of the regular files below a folder in the order of their
/// names. Reads the content of the first 1 GiB, and only the sizes of the rest; of very many files,
/// only the first are returned. Returns nothing if the path does not exist. Throws
/// std::runtime_error with the path if it cannot be read.
std::optional<std::vector<FileDigest>> digests_of(const std::string& path);

/// A CUDA device that the machine's program can use.
struct DeviceFacts {
  int number = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  void fields(auto& v) { v("number", number), v("name", name), v("memory_bytes", memory_bytes); }
};

/// Answer of one machine about a list of paths, and its devices.
struct DataLook {
  std::uint64_t free_bytes = 0;  ///< on the disk of the agent's cache
  std::vector<std::optional<std::vector<FileDigest>>> data{};
  std::optional<std::vector<DeviceFacts>> devices{};  ///< nothing if not asked, or an old agent
  std::string no_device{};                            ///< reason if there is none
};

/// Returns this machine's answer as text. `folder`: cache of the agent. `devices`: whether to look
/// for devices, which takes a second if there are some. Throws as digests_of does.
std::string look_text(const std::vector<std::string>& paths,
                      const std::string& folder,
                      bool devices = false);
/// Throws std::exception if the text is no such answer, or not for `paths` paths.
DataLook parse_look(const std::string& text, std::size_t paths);

}  // namespace gv
