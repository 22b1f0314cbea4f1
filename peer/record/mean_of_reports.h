#pragma once

#include <map>
#include <vector>

#include "gossip/journal.h"

namespace gv {

/// The reports of peers that are looked at together, by peer.
using ReportsByPeer = std::map<PeerId, const Report*>;

/// The fleet's model: at each coordinate the mean of those that hold it (plan.h), summed in
/// double, in id order. Where nobody does any more, of the copies.
std::vector<float> mean_of_reports(const ReportsByPeer& reports);

}  // namespace gv
