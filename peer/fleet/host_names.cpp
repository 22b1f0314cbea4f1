#include "peer/fleet/host_names.h"

namespace gv {

std::vector<std::string> host_names(const Fleet& fleet) {
  std::vector<std::string> hosts;
  if (fleet.hosts.size() <= 1) return hosts;
  hosts.reserve(fleet.peers.size());
  for (const PeerSpec& peer : fleet.peers) hosts.push_back(peer.host);
  return hosts;
}

}  // namespace gv
