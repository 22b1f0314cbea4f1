#pragma once

#include <string>

namespace gv::gpu {

/// Says on stderr what is not as it was asked for where training goes on all the same. A peer's
/// stderr is in its log.
void notice(const std::string& what);

}  // namespace gv::gpu
