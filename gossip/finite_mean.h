#pragma once

#include "gossip/peer.h"

namespace gv {

/// x <- own, and where they are finite the elements of `mean`, a mean of all that has the same bits
/// everywhere: an element that is not finite at somebody is so in it, and all keep their own.
Task<> take_finite_elements(Peer& me, Payload mean, Payload own);

}  // namespace gv
