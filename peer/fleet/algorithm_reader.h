#pragma once

#include <string>

#include "optim/error_text.h"

namespace gv {

/// Hash of the program's sources, as in `--version`; 12 hex digits (cmake/SourcesHash.cmake).
extern const char sources_hash[];
extern const char program_version[];  ///< such as "0.3.0"

/// Returns the hash of the sources with which the plug-in in these bytes was compiled, or "" if
/// they are no plug-in.
std::string sources_of_plugin(const std::string& bytes);

/// Loads the methods of a shared object into this program, once. Refuses an object compiled with
/// other sources before any of its code runs, and names both hashes. Returns "" or the error.
Verdict load_plugin(const std::string& path);

}  // namespace gv
