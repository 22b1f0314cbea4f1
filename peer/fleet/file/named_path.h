#pragma once

#include <filesystem>
#include <string>

#include "peer/fleet/file/value.h"

namespace gv {

// Files and folders that a fleet file or a command names. Nothing here throws, whatever the name:
// it may be too long, a link to itself, behind a file, or in a folder that we may not look into.

/// Returns the path with HOME instead of a leading `~`, as a shell has it; unchanged where
/// there is no HOME.
std::string with_home(const std::string& path);

/// Returns the path that a value names, seen from the fleet file's folder; empty, and reported,
/// where it is none.
std::string read_path(Source& source, const Value& value, const std::filesystem::path& folder);

/// Returns the path where there is no regular file, and what else the system says of it; "": there
/// is one.
std::string no_file(const std::string& path);
/// Returns the same of a folder.
std::string no_folder(const std::string& path);

}  // namespace gv
