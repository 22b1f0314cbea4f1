#pragma once

#include <functional>
#include <memory>

#include "gossip/journal.h"
#include "gossip/plan.h"
#include "gossip/rules.h"
#include "gossip/world.h"
#include "optim/train/replica.h"

namespace gv {

class Peer;

/// The parts that stand between a peer and its world and journal; null: nothing does.
struct Interposed {
  std::unique_ptr<World> world;
  std::unique_ptr<Journal> journal;
};

/// Parts that replace a peer's real ones, in either world: tests plant bugs by them. Made again for
/// each life of a peer; an empty function leaves the real part.
struct PeerParts {
  std::function<void(Plan&)> change_plan;
  std::function<std::unique_ptr<Rules>()> rules;
  std::function<std::unique_ptr<Replica>(std::unique_ptr<Replica> real)> replica;
  std::function<Interposed(World& real, Journal& real_journal)> between;
};

/// A peer with the parts that only it uses.
struct PeerBody {
  std::unique_ptr<Rules> rules;  ///< null: the documented ones
  Interposed between;
  std::unique_ptr<Peer> peer;
};

/// The replica that a peer is to have.
std::unique_ptr<Replica> choose_replica(std::unique_ptr<Replica> real, const PeerParts& parts);
PeerBody make_peer(
    Plan plan, World& world, Journal& journal, Replica& replica, const PeerParts& parts);

}  // namespace gv
