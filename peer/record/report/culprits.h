#pragma once

#include <span>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "gossip/setup.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/metrics.h"

namespace gv {

// Who keeps a fleet from being faster. `run`, `top` and the report ask here, so that all of them
// name the same peer and the same link.

/// The time that a peer has waited for a neighbour: for what that one had not sent yet, and for
/// what was on its way. Seconds.
struct NeighborWait {
  PeerId peer = 0;
  double late = 0;
  double wire = 0;
  double longest = 0;  ///< of its waits for that neighbour
};

/// The time of one peer, and where it went, in seconds.
struct PeerTimes {
  PeerId peer = 0;
  ActivitySeconds spent{};
  std::vector<NeighborWait> waits{};
  double rounds = 0;  ///< done in that time; 0: not known
};
PeerTimes times_of(PeerId peer, const LifeDone& life, double rounds);

struct Culprit {
  enum class Kind {
    peer,     ///< what it does itself takes long
    link,     ///< between `peer` and `other`
    network,  ///< all links of `peer`
  };
  Kind kind = Kind::peer;
  PeerId peer = 0, other = 0;
  double share = 0;  ///< of all peers' time that is, in the end, waiting for it
  /// The activity on which a peer spends the most time beyond the others, and its gradients beside
  /// the median of theirs (1: not known).
  Activity activity = Activity::compute;
  double slower = 1;

  bool operator==(const Culprit& other) const = default;
};

/// Finds those for whom a large part of the fleet's time is waited, worst first; empty where nobody
/// stands out, as in a fleet of equals, or nobody recorded.
///
/// A wait for what is on its way counts against the link, and where the sender stood still or
/// worked meanwhile, against that one (time_shares.h). A wait for what was not sent yet is handed
/// on: to the neighbour itself, as far as it works for longer than who waits for it and nothing of
/// that has been counted already, and else to what that one waits for meanwhile, until it comes to
/// a link or to somebody who works. So of two causes each has its own part of the waiting.
std::vector<Culprit> culprits(std::span<const PeerTimes> peers);

/// "peer 3" or, where there are several hosts, "peer 3 (anna)". `hosts`: by peer, or empty.
std::string peer_name(PeerId peer, std::span<const std::string> hosts);
/// "peer 3", "the link between peer 2 and peer 3" or "the network of peer 4".
std::string name_of(const Culprit& culprit, std::span<const std::string> hosts);
/// "peer 3 holds the others up: 34 % of all peers' time is waiting for it".
std::string short_text_of(const Culprit& culprit, std::span<const std::string> hosts);
/// Adds what it does meanwhile.
std::string text_of(const Culprit& culprit, std::span<const std::string> hosts);

// Who lies in a fleet whose file says so: beside what the others have found out, which is the
// `clipped` of the same output.

/// "attackers  peer 7: aside 25 (mu, and ...)"; "" where there is none. No trailing newline.
std::string attackers_text(const Setup& setup);
/// "attackers": {"peers": [7], "kind": "aside", "strength": 25}, where there are any.
void add_attackers(Json& summary, const Setup& setup);

}  // namespace gv
