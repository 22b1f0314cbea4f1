#pragma once

#include <string>

#include "peer/fleet/fleet.h"

namespace gv {

/// Returns the spelling in fleet files: "fp32".
std::string_view name_of(Precision precision);

/// Returns `count` such peers as an item of `peers`, with all keys of a group, so that `train` does
/// not affect it: "{ host: anna, count: 2, device: "cpu", threads: 4, precision: fp32, speed: 8 }".
/// `batch`: include their batch, because batches do not follow the speeds.
std::string peer_group_text(const PeerSpec& peer, PeerId count, bool batch);

}  // namespace gv
