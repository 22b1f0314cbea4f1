#pragma once

#include "peer/runtime/peer_plan.h"

// Wrong messages.

namespace gv::mutants {

/// Does not give its model to who asks for it.
Interposed answer_no_fetch(World& world, Journal& journal);
/// Numbers its contributions by the round, not by the exchange.
Interposed number_by_round(World& world, Journal& journal);
/// Puts a neighbour in quarantine without telling it.
Interposed quarantine_silently(World& world, Journal& journal);

/// Pushes, after a while in which it sent none, what it pushed last instead of what it is given.
Interposed push_late(World& world, Journal& journal);
/// Sends peer 1, if it is peer 0, and the other way round, no half after the first few.
Interposed silence_an_edge(World& world, Journal& journal);
/// Does not pass a sum on after such a while.
Interposed forget_a_sum(World& world, Journal& journal);

}  // namespace gv::mutants
