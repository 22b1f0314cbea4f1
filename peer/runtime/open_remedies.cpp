#include "peer/runtime/open_remedies.h"

#include <algorithm>

namespace gv {

Remedies remedies_of(const Assembly& fleet) {
  Setup slower = *fleet.setup;
  slower.local_steps *= 2;
  const std::vector<PeerSpec>& peers = fleet.fleet.peers;
  const auto alike = [&](const PeerSpec& peer) { return peer.batch == peers.front().batch; };
  return {
      .local_steps = fleet.fleet.own_steps.empty() &&
                     objection_to(*fleet.algorithm, slower, fleet.w ? &*fleet.w : nullptr).empty(),
      .codec = !fleet.fleet.codec && fleet.algorithm->codecs != Codecs::none,
      .unequal_work =
          !fleet.division && fleet.fleet.own_steps.empty() && std::ranges::all_of(peers, alike),
      .other_stages = fleet.fleet.stages() > 1};
}

}  // namespace gv
