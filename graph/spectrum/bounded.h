#pragma once

#include <string>

#include "graph/mixing/mixing.h"

namespace gv {

/// Throws std::invalid_argument with `name` where W has negative weights and would make some
/// disagreement grow: ||W - J|| > 1.
void require_bounded(const MixingMatrix& w, const std::string& name);

}  // namespace gv
