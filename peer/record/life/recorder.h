#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "peer/fleet/json/json.h"
#include "peer/record/life/moments.h"
#include "peer/record/life/round_rows.h"

namespace gv {

/// The bounds to which a record may grow.
struct RecordLimits {
  std::size_t rows = 1024;  ///< of rounds
  bool moments = true;      ///< the intervals of some rounds are kept
};
/// Gives each of a fleet's peers so many rows, as far as 64 MiB suffice for all together.
RecordLimits record_limits(PeerId peers, std::size_t rows, bool moments);

/// The use that a process made of its machine; nothing of a simulated peer.
struct ProcessUse {
  double cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
};
ProcessUse use_of_this_process();

/// Keeps where one life of a peer spent its time, in bounded memory: rows of rounds, every interval
/// of some rounds, and totals. Takes what a Journal is told; one thread at a time.
class Recorder {
 public:
  Recorder(PeerId peer, const RecordLimits& limits)
      : peer_(peer), rows_(limits.rows), moments_wanted_(limits.moments) {}

  /// Every interval of these rounds too, both included, as far as there is room.
  void keep_whole(Round first, Round last) { asked_ = {first, last}; }
  /// Returns true once, after the last of them.
  bool take_asked_done();
  bool wants_intervals(Round rounds) const {
    return moments_wanted_ && (is_asked(rounds) || is_kept_whole(rounds)) && has_room(rounds);
  }
  void life_begun(Round rounds, Time now) { rows_.begin(rounds, now); }
  void round_done(const RoundDone& round);
  void settled(const Settlement& settlement);
  void life_done(const LifeDone& life) { life_ = life; }

  PeerId peer() const { return peer_; }
  const RoundRows& rounds() const { return rows_; }
  const std::vector<KeptInterval>& moments() const { return moments_; }
  /// Returns what life_done() was told; nothing before.
  const std::optional<LifeDone>& life() const { return life_; }
  const std::map<PeerId, std::uint64_t>& exchanges() const { return exchanges_; }

 private:
  struct Asked {
    Round first = 0, last = 0;
  };
  static constexpr std::size_t most_moments = 16'384;
  static constexpr std::size_t most_asked_moments = 131'072;
  bool is_asked(Round round) const {
    return asked_ && asked_->first <= round && round <= asked_->last;
  }
  bool has_room(Round round) const {
    return is_asked(round) ? asked_moments_ < most_asked_moments
                           : moments_.size() - asked_moments_ < most_moments;
  }

  PeerId peer_;
  RoundRows rows_;
  bool moments_wanted_;
  std::vector<KeptInterval> moments_;
  std::size_t asked_moments_ = 0;  ///< of these
  std::optional<Asked> asked_;
  bool asked_done_ = false;
  std::map<PeerId, std::uint64_t> exchanges_;  ///< settled, by neighbour
  std::optional<LifeDone> life_;
};

/// {"compute":..,"mix":..,...}: seconds.
Json spent_json(const Spent& spent);

/// Writes rounds.LIFE.npy and moments.LIFE.npy into `folder`, and totals.json once the life is
/// done; `neighbors`: of the peer, ascending. `epoch`: what makes the peer's time one of its
/// machine's clock, by which the peers of a machine can be compared; virtual time needs none. Each
/// file is whole or the one before. Throws std::runtime_error with the path.
///
/// Structured arrays, so that their columns have names. A row of rounds: first round, rounds,
/// begin, the eight activities, hidden wire (all times in seconds), bytes, greatest staleness,
/// longest queue. A row of moments: round, activity, begin, end, neighbour waited for or -1.
void write_record(const Recorder& recorder,
                  const std::vector<PeerId>& neighbors,
                  const std::string& folder,
                  std::uint64_t life,
                  Time epoch,
                  const std::optional<ProcessUse>& use);

}  // namespace gv
