#pragma once

// The table of methods (algorithm.h), for those who add a row: a method is a function of a Peer.

#include "gossip/algorithm.h"
#include "gossip/peer.h"
