#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "peer/record/fleet_record.h"
#include "peer/record/report/culprits.h"
#include "peer/record/report/metrics_row.h"

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

}  // namespace gv
