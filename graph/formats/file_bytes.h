#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gv {

/// The largest graph or weight file that is read: an edge list of some 50 million edges, or a W of
/// 11,000 peers.
inline constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 30;

/// All bytes of a regular file. A pipe or a device is refused, because it could keep the program
/// waiting or never end. Throws GraphFileError when it cannot be read or is longer than `most`.
std::string file_bytes(const std::string& path, std::uint64_t most = most_file_bytes);

/// Returns the text without the byte order mark with which some programs begin UTF-8.
inline std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace gv
