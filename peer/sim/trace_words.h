#pragma once

#include "gossip/link/carrier.h"
#include "gossip/message.h"

namespace gv {

// What happened in a simulated fleet, for its trace: the words between two peers.

const char* sends(Kind kind);
const char* hears(Kind kind);
const char* text(LinkEvent event);

}  // namespace gv
