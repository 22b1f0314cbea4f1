#pragma once

#include <map>
#include <string>
#include <vector>

#include "gossip/seam/journal.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// Sums of the other peers' clipping of one peer (gossip/exchange/clipping.h).
struct ClippedPeer {
  PeerId peer = 0;
  std::uint64_t exchanges = 0;  ///< number of exchanges in which something was clipped
  std::uint64_t far = 0;        ///< exchanges in which it was further away than honest peers are
  std::uint64_t still = 0;      ///< exchanges in which it stood still while the others moved
  double steps = 0;  ///< mean distance that it has moved each peer in `by`, in that peer's steps
  std::vector<PeerId> by{};  ///< peers that clipped it, ascending
};

/// Sums up the clipping by clipped peer: first the suspected attackers, most often suspected first,
/// then the others by number of clipped exchanges.
std::vector<ClippedPeer> clipped_peers(const std::map<PeerId, std::vector<ClippedFlows>>& by);

/// Returns a line for each suspected attacker, and one with the number of other clipped peers; ""
/// if nothing was clipped. No trailing newline.
std::string clipped_text(const std::map<PeerId, std::vector<ClippedFlows>>& by);
/// Returns [{"peer", "exchanges", "far", "still", "steps", "by"}], in that order.
Json clipped_json(const std::map<PeerId, std::vector<ClippedFlows>>& by);

/// Returns a warning that the loss rose too sharply for training to be the cause, with peer and
/// first round; "" if it did not. No trailing newline.
std::string loss_rise_text(const FleetRecord& record);
/// Returns whether a peer's minibatch loss or the loss of the fleet's model has risen too sharply.
bool loss_rose(const FleetRecord& record);
/// Adds "loss_rise": {"round", "from", "to", "peers"}, if the loss has.
void add_loss_rise(Json& line, const FleetRecord& record);

/// Names a few edges and counts the others; "" if there are none. No trailing newline.
std::string uneven_text(const std::vector<UnevenEdge>& edges);
/// Returns [{"peers": [a, b], "exchanges": [at a, at b], "pieces": [at a, at b]}].
Json uneven_json(const std::vector<UnevenEdge>& edges);

/// Returns which peers ran ahead of their pace, and which edges stayed silent although both ends
/// were there; "" if none did. No trailing newline.
std::string unsteady_text(const FleetRecord& record);
/// Adds "ran_ahead": [{"peer", "first", "rounds", "usual"}] and "silent": [{"peers", "since",
/// "rounds"}], if there are any.
void add_unsteady(Json& line, const FleetRecord& record);

}  // namespace gv
