#pragma once

#include "gossip/mailbox.h"
#include "gossip/plan.h"

namespace gv {

/// Returns for how long a collective waits for a neighbour that lives and does not get on; 0:
/// without end. At least until it is known whether the neighbour lives, and in a chain also for as
/// long as a stage may be held up by averaging.
Time collective_deadline(const Plan& plan);

/// How long a neighbour that waits itself may hold a wait up: each waits for the next one, and the
/// last of them for who is stuck. In averaging and in collectives such waits may lead through the
/// whole fleet. From stage to stage they lead through one chain, of which each may wait for the
/// same stage of every other model. Twice over: a link may join them when they are about to end.
Time longest_waits(const Plan& plan, Absence absence);

}  // namespace gv
