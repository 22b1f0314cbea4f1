#pragma once

#include <map>
#include <string>
#include <vector>

#include "peer/launch/peer_reports.h"
#include "peer/record/observer.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// The peers of a fleet that had no launcher, by what they left in FOLDER/peers/003 and so on.
using CollectedPeers = std::map<PeerId, StoredReports>;

/// Returns no peers where there are none. Throws std::runtime_error where they make no sense, or
/// where two are of different fleets or a folder is of another peer than its name says.
CollectedPeers read_peers(const std::string& folder);

/// Copies the regular files of `from`/peers/003 and so on into `to`; nothing is written over.
/// Throws std::invalid_argument where both have a peer, std::runtime_error where one cannot be
/// written.
void gather_peers(const std::string& from, const std::string& to);

/// Tells the observer what the peers reported, as a launcher would have: evaluations in the order
/// of their rounds, where the models of all were kept, and then the ends. Peers that left no last
/// report count as lost; returned, with those that left nothing.
std::vector<PeerId> replay(const CollectedPeers& peers, const Assembly& fleet, Observer& observer);

}  // namespace gv
