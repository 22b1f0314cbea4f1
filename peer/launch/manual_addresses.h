#pragma once

#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// Returns where each peer of a fleet started by hand is to be found; ports from 27000 where the
/// file gives none.
std::vector<PeerAddress> manual_addresses(const Fleet& fleet);

}  // namespace gv
