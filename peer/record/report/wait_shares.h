#pragma once

#include <map>
#include <span>
#include <vector>

#include "peer/record/report/culprits.h"

namespace gv {

/// One peer's time as shares of it; what it waited for is told apart by whose doing it was.
struct WaitShares {
  double work = 0;  ///< what is no waiting
  std::map<PeerId, double> late, wire;
  /// The waits that look like wire, while one of its two ends stood still or was slow with what it
  /// had to send or receive: by that end.
  std::map<PeerId, double> held;
};

/// Divides the time of those who recorded anything. Each peer measures by itself how long it stood
/// still, and for that long it delays what it sends.
std::map<PeerId, WaitShares> wait_shares(std::span<const PeerTimes> peers);

double seconds_of(const PeerTimes& peer);
double spent_on(const PeerTimes& peer, Activity activity);
/// The median of what is usual among them; 0: there is none.
double usual_of(std::vector<double> values);

}  // namespace gv
