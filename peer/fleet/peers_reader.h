#pragma once

#include <string>
#include <vector>

#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// A number of peers, or a list of groups, into `fleet.peers`; `usual` is what a peer has that says
/// nothing of its own (`train.device`, `train.batch`). Null: two peers. The hosts are known.
/// Problems become diagnostics of `source`.
void read_peers(Source& source, const Value* value, const PeerSpec& usual, Fleet& fleet);

/// A device as fleet files write it: auto | cpu | cuda | cuda:K.
std::optional<std::string> read_device(Source& source, const Value& value);
/// fp32 | tf32 | bf16.
std::optional<Precision> read_precision(Source& source, const Value& value);

}  // namespace gv
