#pragma once

#include <vector>

#include "peer/runtime/assembly.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// A peer that is started by hand listens at its host's address of the fleet file. Throws
/// std::runtime_error with the address's place in the file where that is, on this machine, an
/// address of nobody but this machine, and a neighbour lives on another one: many systems map a
/// machine's own name to 127.0.1.1 in /etc/hosts, and the neighbours would wait in vain.
/// `addresses`: of all peers (manual_addresses).
void check_own_address(const Assembly& fleet, PeerId id, const std::vector<PeerAddress>& addresses);

}  // namespace gv
