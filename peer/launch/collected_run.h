#pragma once

#include <map>
#include <string>
#include <vector>

#include "peer/launch/peer_reports.h"
#include "peer/record/observer.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Peers of a fleet without a launcher, read from FOLDER/peers/003 and so on.
using CollectedPeers = std::map<PeerId, StoredReports>;

/// Returns an empty map if there are no peers. Throws std::runtime_error if a folder is invalid
/// or is named after another peer, or if two are of different fleets.
CollectedPeers read_peers(const std::string& folder);

/// Copies the regular files of `from`/peers/003 and so on into `to`; overwrites nothing. Throws
/// std::invalid_argument if both have a peer, std::runtime_error if a file cannot be written.
void gather_peers(const std::string& from, const std::string& to);

/// Passes the peers' reports to the observer as a launcher would: evaluations in order of their
/// rounds, if the models of all peers were kept, and then the last reports. Returns the lost peers:
/// those without a last report, and those that left nothing.
std::vector<PeerId> replay(const CollectedPeers& peers, const Assembly& fleet, Observer& observer);

}  // namespace gv
