#include "peer/fleet/fleet.h"

#include <fmt/format.h>

namespace gv {

std::vector<std::string> host_names(const Fleet& fleet) {
  std::vector<std::string> hosts;
  if (fleet.hosts.size() <= 1) return hosts;
  hosts.reserve(fleet.peers.size());
  for (const PeerSpec& peer : fleet.peers) hosts.push_back(peer.host);
  return hosts;
}

std::string_view name_of(Precision precision) {
  if (precision == Precision::tf32) return "tf32";
  return precision == Precision::bf16 ? "bf16" : "fp32";
}

std::string peer_group_text(const PeerSpec& peer, PeerId count, bool batch) {
  return fmt::format(
      "{{ host: {}, count: {}, device: \"{}\", threads: {}, precision: {}, speed: {}{} }}",
      peer.host, count, peer.device, peer.threads, name_of(peer.precision), peer.speed,
      batch ? fmt::format(", batch: {}", peer.batch) : "");
}

}  // namespace gv
