#include "peer/cli/end_advice.h"

#include "peer/fleet/host_names.h"
#include "peer/record/report/time_shares.h"
#include "peer/record/runs/peer_totals.h"
#include "peer/runtime/open_remedies.h"

namespace gv::cli {
namespace {

/// A damaged record is no reason to say nothing of a run that has ended well.
std::vector<Culprit> culprits_in(const std::string& folder) {
  if (folder.empty()) return {};
  try {
    return culprits(read_peer_times(folder));
  } catch (const UnusableRun&) {
    return {};
  }
}

}  // namespace

std::string advice_at_end(const Assembly& fleet,
                          const FleetRecord& end,
                          const std::string& folder) {
  return time_advice(end, culprits_in(folder), host_names(fleet.fleet), remedies_of(fleet));
}

}  // namespace gv::cli
