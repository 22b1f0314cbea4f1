#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "peer/fleet/fleet.h"
#include "peer/record/fleet_record.h"
#include "peer/record/report/culprits.h"
#include "peer/record/report/metrics.h"

namespace gv {

/// One peer as its launcher sees it.
struct PeerState {
  enum class Stage : std::uint8_t { starting, training, stopped, finished, restarting, lost };
  PeerId id = 0;
  pid_t pid = 0;
  Stage stage = Stage::starting;
  Round round = 0;
  double heard = 0;  ///< when it said so, in seconds of the fleet
  int restarts = 0;
  std::string ending{};  ///< of a lost one: "killed by signal 9"
  /// The bytes on the wire by the end of `reported` rounds, as its newest report says.
  std::optional<std::uint64_t> sent_bytes{};
  Round reported = 0;
  // Where the peers tell it; what nobody recorded is not there.
  std::optional<ActivitySeconds> activities{};
  std::vector<NeighborWait> waits{};
  Round staleness = 0;    ///< of what it took of late, the greatest
  std::size_t queue = 0;  ///< messages that waited for it of late, the most
};

/// The answer to an order (orders.h) that concerns rounds to come.
struct OrderAnswer {
  std::uint64_t order = 0;  ///< its number
  Round round = 0;          ///< at the end of which every peer keeps a checkpoint, or from which on
  Round last = 0;           ///< up to which, included, every peer records
  std::string refused{};    ///< why nothing will come of it; empty: something will
};

/// A fleet at one moment: made by the launcher about ten times a second, never changed afterwards.
struct FleetState {
  enum class Phase : std::uint8_t { starting, training, stopping, ended };
  Phase phase = Phase::starting;
  double seconds = 0;             ///< since training began, earlier parts of the run included
  Round round = 0;                ///< of the slowest peer that runs
  Round first = 0;                ///< in which it began: not 0 where it was resumed
  double seconds_before = 0;      ///< of `seconds`, until then
  std::optional<Round> rounds{};  ///< of the whole run; none: until something else ends it
  std::vector<PeerState> peers{};
  std::optional<FleetRecord> latest{};      ///< the newest evaluation
  std::optional<OrderAnswer> checkpoint{};  ///< of the newest such order
  std::optional<OrderAnswer> record{};      ///< of the newest such order
};

// Who keeps a fleet from being faster, by what its peers have recorded since the start.

/// Returns where the time of each peer went until now; those that record nothing are left out.
/// `first`: the round in which they began.
std::vector<PeerTimes> times_of(const std::vector<PeerState>& peers, Round first);

/// A link that takes longer than the fleet file says of it.
struct SlowLink {
  PeerId from = 0, to = 0;
  double seconds = 0;   ///< per round, that `to` waits for what is on its way
  double promised = 0;  ///< in which all that `from` sends in a round could have come
};

/// The one that exceeds most what is said of it, where that is twofold or more and costs a
/// twentieth of the receiver's time. Only of what the file says something about.
std::optional<SlowLink> slow_link(const NetworkSpec& network, const FleetState& state);

struct HoldUp {
  std::string who;   ///< whom it is about, the same however it goes on
  std::string text;  ///< for who follows the run, with what to do
  /// The ends of a link that is slower than the file says: if one of them holds the others up
  /// itself, what it sends and receives is slow for that reason.
  std::vector<std::string> ends{};

  bool by(const std::string& peer) const { return std::ranges::find(ends, peer) != ends.end(); }
};
std::vector<HoldUp> hold_ups(const Fleet& fleet, const FleetState& state);

/// Tells of each once, when two looks in a row have found it: where shares come to the bound at
/// different times, a part of a cause is found for a moment before the whole is.
class LastingHoldUps {
 public:
  /// Picks what is to be told now of what a look has found.
  std::vector<HoldUp> after(std::vector<HoldUp> found);

 private:
  std::set<std::string> last_;  ///< found by the last look
  std::set<std::string> told_;
};

}  // namespace gv
