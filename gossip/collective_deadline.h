#pragma once

#include "gossip/mailbox.h"
#include "gossip/plan.h"

namespace gv {

/// Returns for how long a collective waits for a neighbour that lives and does not get on; 0:
/// without end. At least until it is known whether the neighbour lives, and in a chain also for as
/// long as a stage may be held up by averaging.
Time collective_deadline(const Plan& plan);

/// For how long a neighbour that waits itself may hold a wait up: each waits for the next one, and
/// the last of them for who is stuck. In averaging and collectives such waits may lead through the
/// whole fleet; from stage to stage they lead through one chain, and from there through averaging.
/// Twice over: a link may join such waits when they are about to end.
Time longest_waits(const Plan& plan, Absence absence);

}  // namespace gv
