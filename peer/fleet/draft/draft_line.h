#pragma once

#include <string>

namespace gv {

/// Returns a line of a fleet file, and why it stands there: behind it, or above it where it would
/// be too long.
std::string draft_line(const std::string& yaml, const std::string& comment);

/// Returns the text as YAML takes it: in double quotes, in which YAML takes JSON's escapes; a plain
/// word as it is.
std::string draft_word(const std::string& text);

/// Returns how the path is written in a fleet file of that folder: from there if it lies below.
std::string draft_path(const std::string& path, const std::string& folder);

}  // namespace gv
