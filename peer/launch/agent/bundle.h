#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A program with the libraries that it was started with, and libgrapevine.so for programs that
/// train themselves, packed for machines that have none of it; the C library is every machine's
/// own.
struct Bundle {
  std::string processor;  ///< for which it is, as `uname -m` says
  std::string name;       ///< 16 hex digits that another build has otherwise
  std::string path;       ///< of a tar archive, compressed by gzip
  std::size_t bytes = 0;

  std::string read() const;  ///< throws std::runtime_error
};

/// That of our own program, packed once per build and kept in the cache of this user; its name is
/// the XXH3-64 of the program and libgrapevine.so. Throws std::runtime_error.
Bundle bundle_of(const std::string& program);
/// Those for other kinds of processors, which such a machine has packed (`grapevine bundle`): files
/// of the name that file_of_bundle gives, beside the program or else in grapevine/ below
/// XDG_DATA_HOME or ~/.local/share. Named by the XXH3-64 of the file. Throws std::runtime_error.
std::vector<Bundle> other_bundles(const std::string& program);
/// Returns grapevine-PROCESSOR.tar.gz.
std::string file_of_bundle(std::string_view processor);

/// A folder of this name below XDG_CACHE_HOME/grapevine, or ~/.cache/grapevine; made, for its
/// owner alone. Throws std::runtime_error with the path.
std::string cache_folder(const std::string& name);

// A fleet file on another machine: the graphs, links, model and plug-in that it names go with it,
// and its data too where it says `launch: { data: push }`. Otherwise data are looked for at the
// same absolute path, or below the folder that `hosts` names for this machine. `host`: its name
// there;
// "": a machine of which the file says nothing.

/// The files by the names that they have there: the fleet's is fleet.yaml. Throws
/// std::runtime_error with the path when one cannot be read, or when they are too many bytes.
std::map<std::string, std::string> copied_files(const std::string& fleet,
                                                const std::vector<std::string>& sets);
/// Returns where the data that the fleet names, and that are here, are looked for there, by
/// absolute paths: of each host the same in the same order.
std::vector<std::string> data_paths(const std::string& fleet,
                                    const std::vector<std::string>& sets,
                                    const std::string& host = "");
/// "--set" and its value, for those given and for each path that is another one there.
std::vector<std::string> copied_sets(const std::string& fleet,
                                     const std::vector<std::string>& sets,
                                     const std::string& host = "");

}  // namespace gv
