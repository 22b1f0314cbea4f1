#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/launch/fleet_state.h"

namespace gv {

// Who keeps a fleet from being faster, by what its peers have recorded since the start.

/// A peer for which its neighbours wait, while it waits for nobody.
struct SlowPeer {
  PeerId peer = 0;
  int held = 0;       ///< so many neighbours wait for it for 15 % of their time or more
  double share = 0;   ///< of their time, all together
  double slower = 1;  ///< its gradients take so many times as long as those of the others' median
};

/// The one that is waited for most, where that is at least twice of what it waits itself: who only
/// hands on that it was held up is not the cause. Nothing where peers do not record. `first`: the
/// round in which they began.
std::optional<SlowPeer> slow_peer(std::span<const PeerState> peers, Round first);

/// A link that takes longer than the fleet file says of it.
struct SlowLink {
  PeerId from = 0, to = 0;
  double seconds = 0;   ///< per round, that `to` waits for what is on its way
  double promised = 0;  ///< in which all that `from` sends in a round could have come
};

/// The one that exceeds most what is said of it, where that is twofold or more and costs a
/// twentieth of the receiver's time. Only of what the file says something about.
std::optional<SlowLink> slow_link(const NetworkSpec& network, const FleetState& state);

struct HoldUp {
  std::string who;   ///< "3" or "0 -> 3", the same however it goes on
  std::string text;  ///< for who follows the run, with what to do
};
std::vector<HoldUp> hold_ups(const Fleet& fleet, const FleetState& state);

}  // namespace gv
