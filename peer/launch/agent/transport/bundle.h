#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A program with its libraries, and libgrapevine.so for programs that train, packed for machines
/// that have neither. The C library is always the machine's own.
struct Bundle {
  std::string processor;  ///< processor it is for, as in `uname -m`
  std::string name;       ///< 16 hex digits that identify the build
  std::string path;       ///< path of a tar archive, compressed by gzip
  std::size_t bytes = 0;

  std::string read() const;  ///< throws std::runtime_error
};

/// Returns the bundle of our own program, packed once per build and kept in this user's cache. Its
/// name is the XXH3-64 of the program and libgrapevine.so. Throws std::runtime_error.
Bundle bundle_of(const std::string& program);
/// Returns the bundles for other processors, packed there by `grapevine bundle`: files named by
/// file_of_bundle, next to the program or else in grapevine/ below XDG_DATA_HOME or ~/.local/share.
/// Each is named by the XXH3-64 of its file. Throws std::runtime_error.
std::vector<Bundle> other_bundles(const std::string& program);
/// Returns grapevine-PROCESSOR.tar.gz.
std::string file_of_bundle(std::string_view processor);

/// Makes a folder of this name below XDG_CACHE_HOME/grapevine, or ~/.cache/grapevine, for its owner
/// only, and returns its path. Throws std::runtime_error with the path.
std::string cache_folder(const std::string& name);

// A fleet file is sent to another machine with the graphs, links, model and plug-in that it names,
// and with its data if it has `launch: { data: push }`. Otherwise data are expected at the same
// absolute path, or below the folder that `hosts` names for that machine. `host`: its name there,
// or "" for a machine without a name in the file.

/// Maximum size of the data that are sent.
inline constexpr std::uint64_t most_pushed_bytes = std::uint64_t{256} << 20;

/// Returns the files by their names on the other machine; the fleet's is fleet.yaml. Throws
/// std::runtime_error with the path if a file cannot be read, or if the data are too large.
std::map<std::string, std::string> copied_files(const std::string& fleet,
                                                const std::vector<std::string>& sets);
/// Returns the absolute paths on the other machine of the data that the fleet names and that exist
/// here; for each host in the same order.
std::vector<std::string> data_paths(const std::string& fleet,
                                    const std::vector<std::string>& sets,
                                    const std::string& host = "");
/// Returns "--set" and its value, for the given ones and for each path that differs there.
std::vector<std::string> copied_sets(const std::string& fleet,
                                     const std::vector<std::string>& sets,
                                     const std::string& host = "");

}  // namespace gv
