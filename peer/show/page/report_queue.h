#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/record/runs/peer_totals.h"
#include "peer/show/page/data_table.h"

namespace gv {

/// The rounds that a peer wrote down.
struct QueueRounds {
  std::uint64_t peer = 0;
  std::vector<StoredRounds> rounds;
};

/// Shows how many messages waited for those that serve and do not train, against time: the most of
/// each row of rounds. At most eight servers, those with the longest queues. No picture where
/// nothing ever waited.
Figure queue_figure(std::vector<QueueRounds> peers, const std::string& name);

}  // namespace gv
