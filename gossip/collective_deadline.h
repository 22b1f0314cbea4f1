#pragma once

#include "gossip/plan.h"

namespace gv {

/// Returns for how long a collective waits for a neighbour that lives and does not get on; 0:
/// without end. At least until it is known whether the neighbour lives, and in a chain also for as
/// long as a stage may be held up by averaging.
Time collective_deadline(const Plan& plan);

}  // namespace gv
