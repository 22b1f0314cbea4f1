#pragma once

#include <string>

#include "peer/wire/lend/descriptor.h"

namespace gv {

/// Waits until no other process holds the file, creating it if necessary, and holds it until the
/// returned descriptor is closed or this process ends. Throws std::runtime_error with the path if
/// the file system cannot lock.
Descriptor sole_use_of(const std::string& path);

}  // namespace gv
