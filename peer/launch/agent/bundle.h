#pragma once

#include <cstddef>
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

}  // namespace gv
