#pragma once

#include <string>

namespace gv::gpu {

/// Prints to stderr that something differs from what was requested although training continues. A
/// peer's stderr goes to its log.
void notice(const std::string& what);

}  // namespace gv::gpu
