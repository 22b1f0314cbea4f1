#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "peer/record/fleet_record.h"
#include "peer/record/report/culprits.h"

namespace gv {

/// One peer's time as fractions; waits are divided by cause.
struct WaitShares {
  double work = 0;  ///< time not spent waiting
  std::map<PeerId, double> late, wire;
  /// Waits on the wire caused by an end of the link that stood still, or that was slow to send or
  /// receive: by that end.
  std::map<PeerId, double> held;
};

/// Divides the time of the peers that recorded. Each peer measures how long it stood still; it
/// delays what it sends for as long.
std::map<PeerId, WaitShares> wait_shares(std::span<const PeerTimes> peers);

double seconds_of(const PeerTimes& peer);
double spent_on(const PeerTimes& peer, Activity activity);
/// Returns the median of the values; 0 if there are none.
double usual_of(std::vector<double> values);

/// Remedies that a fleet could use but does not use yet.
struct Remedies {
  bool local_steps = false;   ///< more local steps between two exchanges
  bool codec = false;         ///< compress messages, which then arrive sooner
  bool unequal_work = false;  ///< `train.batch: auto`: less work for slow peers
  bool other_stages = false;  ///< other boundaries for `parallel.stages`
};

/// Returns "time       compute 54 %, mix 8 %, late 9 %, ...": all peers' time by activity, without
/// activities under half a per cent; "" if nothing was recorded.
std::string time_text(const FleetRecord& record);

/// Returns "hint       ...": the largest cost besides training, and a remedy for this fleet; "" if
/// training takes nine tenths of the time or no remedy is known. `found`: the culprits, worst
/// first.
std::string time_advice(const FleetRecord& record,
                        std::span<const Culprit> found,
                        std::span<const std::string> hosts,
                        const Remedies& remedies);

}  // namespace gv
