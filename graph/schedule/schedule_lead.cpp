#include "graph/schedule/schedule_lead.h"

#include <algorithm>
#include <vector>

namespace gv {

// Lamport 1978: what depends on i in this round, and so in all that follow.
std::uint64_t longest_lead(const MixingSchedule& schedule,
                           std::uint64_t round,
                           PeerId i,
                           std::uint64_t limit) {
  const PeerId n = schedule.size();
  std::vector<bool> blocked(n);
  blocked[i] = true;
  for (std::uint64_t k = 0; k < limit; ++k) {
    std::vector<bool> next = blocked;
    for (PeerId j = 0; j < n; ++j) {
      if (blocked[j]) continue;
      next[j] = std::ranges::any_of(schedule.row(round + k, j).peers,
                                    [&](PeerId p) { return blocked[p]; });
    }
    blocked.swap(next);
    if (std::ranges::find(blocked, false) == blocked.end()) return k;
  }
  return limit;
}

}  // namespace gv
