#include "peer/runtime/peer_parts.h"

#include <utility>

#include "gossip/peer.h"

namespace gv {

std::unique_ptr<Replica> choose_replica(std::unique_ptr<Replica> real, const PeerParts& parts) {
  return parts.replica ? parts.replica(std::move(real)) : std::move(real);
}

PeerBody make_peer(
    Plan plan, World& world, Journal& journal, Replica& replica, const PeerParts& parts) {
  PeerBody body;
  if (parts.change_plan) parts.change_plan(plan);
  if (parts.rules) body.rules = parts.rules();
  if (parts.between) body.between = parts.between(world, journal);
  body.peer = std::make_unique<Peer>(std::move(plan),
                                     body.between.world ? *body.between.world : world,
                                     body.between.journal ? *body.between.journal : journal,
                                     replica,
                                     body.rules ? *body.rules : documented_rules());
  return body;
}

}  // namespace gv
