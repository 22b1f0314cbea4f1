#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "optim/error_text.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// Returns whether the peers keep every interval of the round that follows `rounds` completed ones:
/// the first eight, and eight from ceil(64 * 1.5^k) on for each k. The same at all peers, without a
/// word between them, so that a timeline of the fleet can be drawn.
bool is_kept_whole(Round rounds);

/// An interval of such a round: what a peer did, and when.
struct KeptInterval {
  Round round = 0;
  Interval interval;
};

/// Some rounds of a peer, one after the other.
struct RoundRow {
  Round first = 0, rounds = 0;
  Time begin{0};
  Spent spent;  ///< in them
  std::uint64_t bytes = 0;
  Round staleness = 0;
  std::size_t queue = 0;
};

/// A peer's rounds, in so many rows at most: when they are full, each two become one, and later
/// rows span as many rounds. So a long run is kept whole, as coarsely as needed.
class RoundRows {
 public:
  /// `most` is at least 2.
  explicit RoundRows(std::size_t most);

  /// Life begins at `now` after so many rounds.
  void begin(Round rounds, Time now);
  void add(const RoundDone& round);
  /// The last one may span fewer rounds than the others.
  const std::vector<RoundRow>& rows() const { return rows_; }

 private:
  void merge_pairs();

  std::size_t most_;
  Round span_ = 1;
  std::vector<RoundRow> rows_;
  RoundDone before_{};  ///< where the peer stood after the round before
};

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

/// The record of a process's life, on disk: written every ten seconds, so that a killed process
/// leaves all but its last ones, after rounds that somebody asked for, and at the end. Earlier
/// lives of the peer keep theirs.
class LifeRecord {
 public:
  /// `neighbors`: ascending. `folder` is the peer's own.
  LifeRecord(std::string folder,
             PeerId peer,
             std::vector<PeerId> neighbors,
             const RecordLimits& limits);

  /// See write_record.
  void set_epoch(Time epoch) { epoch_ = epoch; }
  Recorder& recorder() { return recorder_; }
  /// Empty, or why the record could not be written; said once.
  Verdict write_when_due(Time now);
  Verdict write();

 private:
  static constexpr Time every{std::chrono::seconds(10)};

  std::string folder_;
  std::uint64_t life_;  ///< a number that no file of the folder has
  std::vector<PeerId> neighbors_;
  Recorder recorder_;
  Time due_{every};
  Time epoch_{0};
  bool failed_ = false;
};

}  // namespace gv
