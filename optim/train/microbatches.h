#pragma once

#include <cstdint>

#include "optim/train/replica.h"

namespace gv {

/// Takes up g, the gradient over microbatch k of `count` (ascending), so that after the last one g
/// is the mean over all of them; `sum` holds what came before. The order fixes the bits: those of
/// g_0 / count + g_1 / count + ..., and for a single microbatch g as it is.
void add_microbatch(Replica& replica, Vector sum, std::uint32_t k, std::uint32_t count);

}  // namespace gv
