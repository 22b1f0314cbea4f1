#pragma once

#include <span>
#include <string>
#include <vector>

#include "gossip/seam/journal.h"
#include "gossip/seam/setup.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/metrics.h"

namespace gv {

// Finds the peers and links that slow a fleet down. `run`, `top` and the report all ask here, so
// they name the same peer and the same link.

/// Time that a peer has waited for a neighbour, in seconds: `late` for messages not sent yet,
/// `wire` for messages on their way.
struct NeighborWait {
  PeerId peer = 0;
  double late = 0;
  double wire = 0;
  double longest = 0;  ///< longest single wait for that neighbour
};

/// Time of one peer by activity, in seconds, and its waits.
struct PeerTimes {
  PeerId peer = 0;
  ActivitySeconds spent{};
  std::vector<NeighborWait> waits{};
  double rounds = 0;  ///< rounds done in that time; 0: unknown
};
PeerTimes times_of(PeerId peer, const LifeDone& life, double rounds);

struct Culprit {
  enum class Kind {
    peer,     ///< the peer's own work is slow
    link,     ///< the link between `peer` and `other`
    network,  ///< all links of `peer`
  };
  Kind kind = Kind::peer;
  PeerId peer = 0, other = 0;
  double share = 0;  ///< fraction of all peers' time that is ultimately spent waiting for it
  /// Activity on which the peer spends most more time than the others, and the duration of its
  /// gradients relative to the others' median (1: unknown).
  Activity activity = Activity::compute;
  double slower = 1;

  bool operator==(const Culprit& other) const = default;
};

/// Returns the culprits for which the fleet waits a large part of its time, worst first. Returns
/// none if no peer or link stands out, as in a fleet of equals, or if no peer recorded.
///
/// A wait for a message on its way counts against the link, or against an end that stood still or
/// was busy (time_shares.h). A wait for a message not sent yet is passed on: to the sender, as far
/// as it works longer than the waiting peer and that work is not counted yet; the rest to whatever
/// the sender waits for, and so on until a link or a working peer is reached. So each of two causes
/// gets its own part of the waiting.
std::vector<Culprit> culprits(std::span<const PeerTimes> peers);

/// Returns "peer 3" or, with several hosts, "peer 3 (anna)". `hosts`: by peer, or empty.
std::string peer_name(PeerId peer, std::span<const std::string> hosts);
/// Returns "peer 3", "the link between peer 2 and peer 3" or "the network of peer 4".
std::string name_of(const Culprit& culprit, std::span<const std::string> hosts);
/// Returns "peer 3 holds the others up: 34 % of all peers' time is waiting for it".
std::string short_text_of(const Culprit& culprit, std::span<const std::string> hosts);
/// Returns short_text_of() and what the culprit does during these waits.
std::string text_of(const Culprit& culprit, std::span<const std::string> hosts);

// Reports the attackers that the fleet file declares; `clipped` of the same output has those that
// the other peers found.

/// Returns "attackers  peer 7, by `aside` of ...", or "" without attackers. No trailing newline.
std::string attackers_text(const Setup& setup);
/// Adds "attackers": {"peers": [7], "kind": "aside", "strength": 25}, if there are any.
void add_attackers(Json& summary, const Setup& setup);

}  // namespace gv
