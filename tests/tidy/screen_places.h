#pragma once

#include <string>

namespace gv::tidy {

/// Returns whether the source writes screens, pages or files: the texts that it returns report
/// success, or are no sentences. Its exceptions still count, and texts that begin with "note" or
/// "warning".
bool of_screens(const std::string& path);

}  // namespace gv::tidy
