#pragma once

#include <string>

#include "peer/fleet/fleet.h"

namespace gv {

/// Spells it as a fleet file does: "fp32".
std::string_view name_of(Precision precision);

/// `count` such peers as an item of `peers`, with all that a group says, so that `train` changes
/// nothing of it: "{ host: anna, count: 2, device: "cpu", threads: 4, precision: fp32, speed: 8 }".
/// `batch`: with their own, where batches do not follow the speeds.
std::string peer_group_text(const PeerSpec& peer, PeerId count, bool batch);

}  // namespace gv
