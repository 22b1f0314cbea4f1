#pragma once

#include <string>

namespace gv::tidy {

/// Screens, pages and files that are written: what they return tells of what went well, or is no
/// sentence. Errors that they throw count all the same, and what begins with "note" or "warning".
bool of_screens(const std::string& path);

}  // namespace gv::tidy
