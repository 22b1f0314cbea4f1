#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "peer/record/runs/peer_totals.h"
#include "peer/show/page/data_table.h"
#include "peer/show/page/report_groups.h"
#include "peer/show/page/timeline_figure.h"
#include "peer/show/page/waiting_figure.h"

namespace gv {

// Each figure has no picture where nobody recorded what it shows.

/// Seconds a round of a peer in each state, a bar per group: the mean over its seeds.
Figure group_shares_figure(const GroupRow& row);

// `hosts`: by peer, or empty where all are on one machine; peers have their host's name.

/// Seconds a round of each peer of one run, which took so many rounds.
Figure peer_shares_figure(const std::vector<PeerTotals>& peers,
                          const std::vector<std::string>& hosts,
                          std::uint64_t rounds);

/// The moments of the last eight rounds that every peer wrote down, with the critical path through
/// them, in seconds since the first moment of all; `recorded`: in ascending order of number. Those
/// from `first_actor` on act for the others, in rounds of their own: of them it is what they did
/// meanwhile.
struct LaneMoments {
  std::uint64_t peer = 0;
  std::vector<StoredMoment> moments;
};
Timeline last_window(const std::vector<LaneMoments>& recorded,
                     const std::vector<std::string>& hosts = {},
                     std::uint64_t first_actor = std::numeric_limits<std::uint64_t>::max());
Figure timeline_of(const Timeline& timeline, const std::string& name);

/// Tells who waited for whom; peers stand as the topology of this name places them, or in a circle.
WaitGraph waiting_of(const std::vector<PeerTotals>& peers,
                     const std::vector<std::string>& hosts,
                     const std::string& topology);
Figure waiting_figure(const WaitGraph& waiting, const std::string& name);

/// Shows how many rounds old the models were that a peer mixed with.
Figure staleness_figure(const std::vector<PeerTotals>& peers, const std::string& name);

}  // namespace gv
