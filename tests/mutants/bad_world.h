#pragma once

#include "peer/runtime/peer_plan.h"

// Wrong messages.

namespace gv::mutants {

/// Does not answer requests for its model.
Interposed answer_no_fetch(World& world, Journal& journal);
/// Numbers its contributions by the round, not by the exchange.
Interposed number_by_round(World& world, Journal& journal);
/// Quarantines a neighbour without notifying it.
Interposed quarantine_silently(World& world, Journal& journal);

/// After a while without a push, repeats the last push instead of sending the new one.
Interposed push_late(World& world, Journal& journal);
/// Peers 0 and 1 send each other no halves after the first few.
Interposed silence_an_edge(World& world, Journal& journal);
/// Does not pass on a sum after such a while.
Interposed forget_a_sum(World& world, Journal& journal);

}  // namespace gv::mutants
