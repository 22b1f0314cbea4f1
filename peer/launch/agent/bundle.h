#pragma once

#include <string>

namespace gv {

/// The program with the libraries that it was started with, and libgrapevine.so for programs that
/// train themselves, packed for machines that have none of it; the C library is every machine's
/// own.
struct Bundle {
  std::string name;   ///< 16 hex digits of XXH3-64 over the program and libgrapevine.so: another
                      ///< build is another name
  std::string bytes;  ///< a tar archive, compressed by gzip
};

/// Packed once per build, and kept in the cache of this user. Throws std::runtime_error.
Bundle bundle_of(const std::string& program);

}  // namespace gv
