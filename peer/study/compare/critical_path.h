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

/// A stay of the path at a peer, from when to when, in seconds.
struct CriticalStay {
  std::uint64_t peer = 0;
  double begin = 0, end = 0;
};

/// The chain of stays without which a fleet had ended sooner: what held it up for some rounds.
struct CriticalPath {
  double seconds = 0;
  ActivitySeconds states{};                          ///< seconds of the path in each
  std::map<std::uint64_t, ActivitySeconds> by_peer;  ///< whose stays they were
  std::vector<CriticalStay> chain;                   ///< in the order of time
  std::vector<ActivitySeconds> stretch;              ///< of each peer, on the path or not
  std::optional<std::uint64_t> first_server;         ///< peers from here on serve
  std::uint64_t first_round = 0, last_round = 0;     ///< of the stretch
};

/// Back from the last end: over `late` to the peer that had not sent yet, and over everything else
/// to what the same peer did before. `peers[i]` are peer i's moments, in the order of time, of one
/// stretch of rounds. A gap between two moments counts as `other`.
CriticalPath critical_path(const std::vector<std::vector<StoredMoment>>& peers);

/// Returns the path of the last stretch of rounds that all peers of a run kept whole; nothing where
/// there is none, or with more than 256 peers. Throws UnusableRun where a file is damaged.
std::optional<CriticalPath> critical_path_of(const StoredRun& run);

/// "83 % compute of peer 3, 9 % wire": the largest shares, with a peer's number where most of it is
/// one peer's, who does so for longer than the others do.
std::string to_string(const CriticalPath& path);
/// "rounds 93 to 100": a path is that of a stretch, and another stretch of the run may have
/// another.
std::string rounds_text(const CriticalPath& path);

/// The reason why one contender takes longer than another: log (T_b / T_a) is that of the rounds
/// plus that of the seconds of a round, and the latter's difference is a sum over a peer's states.
struct Explanation {
  double rounds = 1;  ///< b's over a's, geometric means over the seeds of both
  double seconds_per_round = 1;
  std::optional<ActivitySeconds>
      more;                     ///< b's seconds in each state less a's, of one round and one peer
  double round_difference = 0;  ///< seconds: b's round less a's
  std::optional<std::size_t> state;  ///< the one that explains most of it; nothing where none does
  bool by_rounds = false;            ///< the rounds explain more of the ratio than the round does
};

/// Returns nothing where one of the two misses the target with some seed.
std::optional<Explanation> explain(const Contender& a, const Contender& b);

/// "0.98x the rounds, 2.01x the seconds of each (wire 87.1 ms more)": with the one or two states of
/// a round that differ most.
std::string to_string(const Explanation& e);

}  // namespace gv
