#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/record/report/culprits.h"
#include "peer/record/watch/fleet_state.h"

namespace gv {

// Who keeps a fleet from being faster, by what its peers have recorded since the start.

/// Returns where the time of each peer went until now; those that record nothing are left out.
/// `first`: the round in which they began.
std::vector<PeerTimes> times_of(const std::vector<PeerState>& peers, Round first);

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
  std::string who;   ///< whom it is about, the same however it goes on
  std::string text;  ///< for who follows the run, with what to do
  /// The ends of a link that is slower than the file says: if one of them holds the others up
  /// itself, what it sends and receives is slow for that reason.
  std::vector<std::string> ends{};

  bool by(const std::string& peer) const { return std::ranges::find(ends, peer) != ends.end(); }
};
std::vector<HoldUp> hold_ups(const Fleet& fleet, const FleetState& state);

/// Tells of each once, when two looks in a row have found it: where shares come to the bound at
/// different times, a part of a cause is found for a moment before the whole is.
class LastingHoldUps {
 public:
  /// Picks what is to be told now of what a look has found.
  std::vector<HoldUp> after(std::vector<HoldUp> found);

 private:
  std::set<std::string> last_;  ///< found by the last look
  std::set<std::string> told_;
};

}  // namespace gv
