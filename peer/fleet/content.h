#pragma once

#include <string>
#include <vector>

namespace gv {

/// 32 hex digits of XXH3-128 over what is in these files, in their order, whatever they are called.
/// Throws std::runtime_error "path: what is wrong" when one cannot be read.
std::string content_of(const std::vector<std::string>& files);

}  // namespace gv
