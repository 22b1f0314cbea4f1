#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
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

/// State of a peer as its launcher sees it.
struct PeerState {
  enum class Stage : std::uint8_t { starting, training, stopped, finished, restarting, lost };
  PeerId id = 0;
  pid_t pid = 0;
  Stage stage = Stage::starting;
  Round round = 0;
  double heard = 0;  ///< when it reported this round, in seconds since training began
  int restarts = 0;
  std::string ending{};  ///< how a lost peer ended: "killed by signal 9"
  /// Bytes on the wire by the end of `reported` rounds, from its newest report.
  std::optional<std::uint64_t> sent_bytes{};
  Round reported = 0;
  // As the peers report it; unrecorded values are missing.
  std::optional<ActivitySeconds> activities{};
  std::vector<NeighborWait> waits{};
  Round staleness = 0;    ///< greatest recent staleness of its messages
  std::size_t queue = 0;  ///< most messages that recently waited for it
};

/// Answer to an order (orders.h) about future rounds.
struct OrderAnswer {
  std::uint64_t order = 0;  ///< number of the order
  Round round = 0;  ///< round after which every peer keeps a checkpoint, or first one to record
  Round last = 0;   ///< last round to record, included
  std::string refused{};  ///< reason for a refusal; empty if accepted
};

/// State of a fleet: made by the launcher about ten times a second, never changed afterwards.
struct FleetState {
  enum class Phase : std::uint8_t { starting, training, stopping, ended };
  Phase phase = Phase::starting;
  double seconds = 0;             ///< since training began, earlier parts of the run included
  Round round = 0;                ///< round of the slowest running peer
  Round first = 0;                ///< first round of this part; not 0 if resumed
  double seconds_before = 0;      ///< part of `seconds` before that round
  std::optional<Round> rounds{};  ///< rounds of the whole run, if limited
  std::vector<PeerState> peers{};
  std::optional<FleetRecord> latest{};      ///< newest evaluation
  std::optional<OrderAnswer> checkpoint{};  ///< answer to the newest such order
  std::optional<OrderAnswer> record{};      ///< answer to the newest such order
};

// Finds what slows the fleet down, from its peers' records since the start.

/// Returns how each peer has spent its time; omits peers that record nothing. `first`: the round in
/// which they began.
std::vector<PeerTimes> times_of(const std::vector<PeerState>& peers, Round first);

/// A link that is slower than the fleet file states.
struct SlowLink {
  PeerId from = 0, to = 0;
  double seconds = 0;   ///< per round, that `to` waits for messages on their way
  double promised = 0;  ///< seconds in which all that `from` sends in a round could arrive
};

/// Returns the link that exceeds its stated time by the greatest factor, at least 2, if that costs
/// a twentieth of the receiver's time. Only links with stated figures count.
std::optional<SlowLink> slow_link(const NetworkSpec& network, const FleetState& state);

/// Returns whether each peer has its own amount of work already.
bool have_own_shares(const Fleet& fleet);
/// Returns a remedy for this culprit, or "" if none is known.
std::string help_for(const Culprit& culprit, bool several_hosts, bool own_shares);

struct HoldUp {
  std::string who;   ///< name of the cause, constant over time
  std::string text;  ///< text for the user, with a remedy
  /// Ends of a link that is slower than stated. A peer here that is itself a cause has slow traffic
  /// for that reason.
  std::vector<std::string> ends{};

  bool by(const std::string& peer) const { return std::ranges::find(ends, peer) != ends.end(); }
};
std::vector<HoldUp> hold_ups(const Fleet& fleet, const FleetState& state);

/// Reports each cause once, when two checks in a row have found it: when shares reach the threshold
/// at different times, a part of a cause may be found just before the whole.
class LastingHoldUps {
 public:
  /// Returns the causes of this check that are to be reported now.
  std::vector<HoldUp> after(std::vector<HoldUp> found);

 private:
  std::set<std::string> last_;  ///< causes found by the previous check
  std::set<std::string> told_;
};

/// A request to a running launcher.
struct Order {
  enum class Kind : std::uint8_t { stop, checkpoint, record };
  Kind kind = Kind::stop;
  std::uint64_t number = 0;  ///< counted from 1
  std::uint64_t rounds = 0;  ///< number of rounds to record
};

/// Queue for orders of other threads, which the launcher takes about ten times a second.
class Orders {
 public:
  /// Returns the order's number, or 0 if the queue is full and the order was rejected.
  std::uint64_t give(Order::Kind kind, std::uint64_t rounds = 0);
  std::vector<Order> take();

 private:
  std::mutex mutex_;
  std::uint64_t given_ = 0;
  std::vector<Order> waiting_;
};

}  // namespace gv
