#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "peer/record/runs/peer_totals.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/target.h"

namespace gv {

/// A stay of the path at one peer, seconds.
struct CriticalStay {
  std::uint64_t peer = 0;
  double begin = 0, end = 0;
};

/// The chain of stays that determined how long a fleet took for some rounds.
struct CriticalPath {
  double seconds = 0;
  ActivitySeconds states{};                          ///< seconds of the path in each state
  std::map<std::uint64_t, ActivitySeconds> by_peer;  ///< seconds of the path at each peer
  std::vector<CriticalStay> chain;                   ///< in order of time
  std::vector<ActivitySeconds> stretch;              ///< seconds of each peer, on the path or not
  std::optional<std::uint64_t> first_server;         ///< id of the first server
  std::uint64_t first_round = 0, last_round = 0;     ///< rounds of the stretch
};

/// Returns the path back from the last end: from `late` to the peer that had not sent yet,
/// otherwise to the same peer's previous stay. `peers[i]` holds peer i's moments in order of time,
/// all from one stretch of rounds. A gap between two moments counts as `other`.
CriticalPath critical_path(const std::vector<std::vector<StoredMoment>>& peers);

/// Returns the path of the last stretch of rounds that all peers of a run recorded completely.
/// Returns nothing if there is none or with more than 256 peers. Throws UnusableRun if a file is
/// damaged.
std::optional<CriticalPath> critical_path_of(const StoredRun& run);

/// "83 % compute of peer 3, 9 % wire": the largest shares, with the peer's number if most of a
/// share belongs to one peer that spends longer in that state than the others.
std::string to_string(const CriticalPath& path);
/// "rounds 93 to 100": names the stretch, because other stretches of the run may have other paths.
std::string rounds_text(const CriticalPath& path);

/// Why one contender takes longer than another: log (T_b / T_a) is the sum of the logarithms for
/// rounds and for seconds per round. The difference in seconds per round is a sum over a peer's
/// states.
struct Explanation {
  double rounds = 1;  ///< b over a, geometric means over the seeds of both
  double seconds_per_round = 1;
  std::optional<ActivitySeconds> more;  ///< b minus a: seconds in each state, per round and peer
  double round_difference = 0;          ///< b minus a: seconds per round
  std::optional<std::size_t> state;  ///< the state that explains most of round_difference, if any
  bool by_rounds = false;            ///< rounds explain more of the ratio than seconds per round
};

/// Returns nothing if one of the two misses the target with some seed.
std::optional<Explanation> explain(const Contender& a, const Contender& b);

/// "0.98x the rounds, 2.01x the seconds of each (wire 87.1 ms more)", with the one or two states of
/// a round that differ most.
std::string to_string(const Explanation& e);

}  // namespace gv
