#pragma once

#include <string>

namespace gv {

/// Writes a range as the reference of keys does: "1 to 1,000,000", "0 to 1e9", "1e-6 to 1".
std::string range_text(double least, double most);

}  // namespace gv
