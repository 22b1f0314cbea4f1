#pragma once

#include <string>

#include "peer/fleet/fleet.h"

namespace gv {

/// 32 hex digits of XXH3-128 over everything that decides the arithmetic, in one fixed order.
std::string digest_of(const Fleet& fleet);

}  // namespace gv
