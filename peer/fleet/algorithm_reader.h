#pragma once

#include <string>

#include "optim/error_text.h"

namespace gv {

/// The hash of the program's sources, as `--version` says; 12 hex digits (cmake/SourcesHash.cmake).
extern const char sources_hash[];

/// The hash of the sources that a plug-in in these bytes was compiled with; "": it is none.
std::string sources_of_plugin(const std::string& bytes);

/// Loads the methods of a shared object, once: its code becomes a part of this program. One that
/// was compiled with other sources than this program is refused before any of it runs, with both
/// hashes. Empty, or what is wrong.
Verdict load_plugin(const std::string& path);

}  // namespace gv
