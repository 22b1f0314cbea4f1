#pragma once

#include "gossip/task.h"

namespace gv {

class Peer;

/// plain_step(), and gamma of it: see Replica::rate. A program says the rate of a step with the
/// gradient for it, which is when it knows it: its step is a turn of its own here.
Task<double> rated_step(Peer& me);

}  // namespace gv
