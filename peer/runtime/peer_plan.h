#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "gossip/core/rules.h"
#include "gossip/link/link_settings.h"
#include "gossip/seam/journal.h"
#include "gossip/seam/plan.h"
#include "gossip/seam/world.h"
#include "optim/train/replica.h"

namespace gv {

namespace wire {
struct FrameBounds;
}
class Assembly;
class Peer;
struct FaultSpec;

/// Parts between a peer and its world and journal; null for none.
struct Interposed {
  std::unique_ptr<World> world;
  std::unique_ptr<Journal> journal;
};

/// Replacements of a peer's parts, in real and simulated fleets. Tests plant bugs by them. Made
/// again for each life of a peer; an empty function keeps the real part.
struct PeerParts {
  std::function<void(Plan&)> change_plan;
  std::function<std::unique_ptr<Rules>()> rules;
  std::function<std::unique_ptr<Replica>(std::unique_ptr<Replica> real)> replica;
  std::function<Interposed(World& real, Journal& real_journal)> between;
};

/// A peer with the parts that only it uses.
struct PeerBody {
  std::unique_ptr<Rules> rules;  ///< null for the documented ones
  Interposed between;
  std::unique_ptr<Peer> peer;
};

/// Returns the replica that a peer uses: the real one, or that of `parts`.
std::unique_ptr<Replica> choose_replica(std::unique_ptr<Replica> real, const PeerParts& parts);
PeerBody make_peer(
    Plan plan, World& world, Journal& journal, Replica& replica, const PeerParts& parts);

/// Returns a peer's link settings from its plan, without process identity and times.
/// `small_messages` is in bytes of payload that a neighbour may always leave unacknowledged.
LinkSettings link_settings(const Plan& plan, std::size_t parameters, std::uint64_t small_messages);
LinkTimes link_times(const FaultSpec& faults);
/// Returns the bounds of the frames that the peers of a fleet send to each other.
wire::FrameBounds frame_bounds(const Assembly& fleet);

}  // namespace gv
