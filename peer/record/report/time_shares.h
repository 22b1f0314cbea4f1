#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "peer/record/fleet_record.h"
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

/// The remedies that a fleet could use and does not use yet.
struct Remedies {
  bool local_steps = false;   ///< more of them between two exchanges
  bool codec = false;         ///< write what travels in fewer bytes, which then arrives sooner
  bool unequal_work = false;  ///< `train.batch: auto`: less for who is slow
  bool other_stages = false;  ///< `parallel.stages` that begin elsewhere
};

/// "time       compute 54 %, mix 8 %, late 9 %, ...": where the peers' time went, all together;
/// what took less than half a per cent is left out. "" where nothing was recorded.
std::string time_text(const FleetRecord& record);

/// "hint       ...": the largest thing that is not training, and what would help this fleet against
/// it; "" where training is nine tenths of the time or nothing is known that would help. `found`:
/// who is waited for, the worst first (culprits.h).
std::string time_advice(const FleetRecord& record,
                        std::span<const Culprit> found,
                        std::span<const std::string> hosts,
                        const Remedies& remedies);

}  // namespace gv
