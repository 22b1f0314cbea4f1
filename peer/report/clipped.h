#pragma once

#include <map>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "peer/json/json.h"

namespace gv {

/// What the peers clipped of one of them, all together (gossip/clipping.h).
struct ClippedPeer {
  PeerId peer = 0;
  std::uint64_t exchanges = 0;  ///< of which something was clipped
  std::uint64_t far = 0;        ///< of these, those in which it was far beyond the bound
  std::vector<PeerId> by{};     ///< ascending
};

/// By each peer, of its neighbours -> of each peer; those that were far away most often first, then
/// those of whom most was clipped.
std::vector<ClippedPeer> clipped_peers(const std::map<PeerId, std::vector<ClippedFlows>>& by);

/// Names those that were far away, one line each, and counts the others in one; "" where nothing
/// was clipped. No trailing newline.
std::string clipped_text(const std::map<PeerId, std::vector<ClippedFlows>>& by);
/// [{"peer", "exchanges", "far", "by"}], in that order.
Json clipped_json(const std::map<PeerId, std::vector<ClippedFlows>>& by);

}  // namespace gv
