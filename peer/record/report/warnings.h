#pragma once

#include <map>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// The sums of what the peers clipped of one of them (gossip/clipping.h).
struct ClippedPeer {
  PeerId peer = 0;
  std::uint64_t exchanges = 0;  ///< of which something was clipped
  std::uint64_t far = 0;        ///< those in which it was further away than honest peers are
  std::uint64_t still = 0;      ///< those in which it stood still while the others moved
  double steps = 0;             ///< how far it has moved each of them, in steps of theirs: the mean
  std::vector<PeerId> by{};     ///< ascending
};

/// Turns what each peer clipped of its neighbours into what was clipped of each; first those that
/// are taken for liars, most often first, then those of whom most was clipped.
std::vector<ClippedPeer> clipped_peers(const std::map<PeerId, std::vector<ClippedFlows>>& by);

/// Names those that are taken for liars, one line each, and counts the others in one; "" where
/// nothing was clipped. No trailing newline.
std::string clipped_text(const std::map<PeerId, std::vector<ClippedFlows>>& by);
/// [{"peer", "exchanges", "far", "still", "steps", "by"}], in that order.
Json clipped_json(const std::map<PeerId, std::vector<ClippedFlows>>& by);

/// Says that the loss has risen so much at once that training is not the cause, where, and when it
/// was first found; "" where it has not. No trailing newline.
std::string loss_rise_text(const FleetRecord& record);
/// Returns whether it has, of a peer's minibatches or of the fleet's model.
bool loss_rose(const FleetRecord& record);
/// "loss_rise": {"round", "from", "to", "peers"}, where it has.
void add_loss_rise(Json& line, const FleetRecord& record);

/// Names some of them and counts the others; "" where there is none. No trailing newline.
std::string uneven_text(const std::vector<UnevenEdge>& edges);
/// [{"peers": [a, b], "exchanges": [at a, at b], "pieces": [at a, at b]}].
Json uneven_json(const std::vector<UnevenEdge>& edges);

/// Returns which peers ran ahead of their pace, and which edges stayed silent with both ends here;
/// "" if none did. No trailing newline.
std::string unsteady_text(const FleetRecord& record);
/// "ran_ahead": [{"peer", "first", "rounds", "usual"}] and "silent": [{"peers", "since",
/// "rounds"}], where there are any.
void add_unsteady(Json& line, const FleetRecord& record);

}  // namespace gv
