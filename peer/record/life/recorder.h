#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gossip/seam/journal.h"
#include "optim/error_text.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// Returns whether peers record every interval of the round that follows `rounds` completed ones:
/// the first eight rounds, and eight from ceil(64 * 1.5^k) on for each k. All peers choose the same
/// rounds without messages, so a timeline of the fleet can be drawn.
bool is_kept_whole(Round rounds);

/// An interval of such a round: activity and time.
struct KeptInterval {
  Round round = 0;
  Interval interval;
};

/// Consecutive rounds of a peer, summed up.
struct RoundRow {
  Round first = 0, rounds = 0;
  Time begin{0};
  Spent spent;  ///< time by activity in these rounds
  std::uint64_t bytes = 0;
  Round staleness = 0;
  std::size_t queue = 0;
};

/// A peer's rounds in a limited number of rows. When the rows are full, each two are merged, and
/// later rows span as many rounds. So a long run is kept whole, as coarsely as necessary.
class RoundRows {
 public:
  /// `most` is at least 2.
  explicit RoundRows(std::size_t most);

  /// Begins a life at time `now`, after `rounds` completed rounds.
  void begin(Round rounds, Time now);
  void add(const RoundDone& round);
  /// Returns the rows; the last one may span fewer rounds than the others.
  const std::vector<RoundRow>& rows() const { return rows_; }

 private:
  void merge_pairs();

  std::size_t most_;
  Round span_ = 1;
  std::vector<RoundRow> rows_;
  RoundDone before_{};  ///< state of the peer after the previous round
};

/// Limits of a record's size.
struct RecordLimits {
  std::size_t rows = 1024;  ///< maximum number of rows of rounds
  bool moments = true;      ///< record the intervals of some rounds
};
/// Returns the limits of each peer: `rows`, or fewer if all peers together would exceed 64 MiB.
RecordLimits record_limits(PeerId peers, std::size_t rows, bool moments);

/// Resources that a process used; not known of a simulated peer.
struct ProcessUse {
  double cpu_seconds = 0;
  std::uint64_t peak_memory_bytes = 0;
};
ProcessUse use_of_this_process();

/// Records how one life of a peer spent its time, in bounded memory: rows of rounds, all intervals
/// in some rounds, and totals. Receives a Journal's events, from one thread at a time.
class Recorder {
 public:
  Recorder(PeerId peer, const RecordLimits& limits)
      : peer_(peer), rows_(limits.rows), moments_wanted_(limits.moments) {}

  /// Also records every interval from round `first` to `last`, while there is room.
  void keep_whole(Round first, Round last) { asked_ = {first, last}; }
  /// Returns true once, after round `last` of keep_whole().
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
  /// Returns the argument of life_done(), or nothing before that call.
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
  std::size_t asked_moments_ = 0;  ///< moments that keep_whole() asked for
  std::optional<Asked> asked_;
  bool asked_done_ = false;
  std::map<PeerId, std::uint64_t> exchanges_;  ///< settled exchanges, by neighbour
  std::optional<LifeDone> life_;
};

/// Returns {"compute":..,"mix":..,...} in seconds.
Json spent_json(const Spent& spent);

/// Writes rounds.LIFE.npy and moments.LIFE.npy into `folder`, and totals.json once the life is
/// done; each file is replaced atomically. `neighbors`: the peer's, ascending. `epoch`: added to
/// the peer's time to give its machine's clock, by which peers of a machine can be compared;
/// virtual time needs none. Throws std::runtime_error with the path.
///
/// The files are structured arrays, so their columns have names. A row of rounds: first round,
/// rounds, begin, the eight activities, hidden wire (all times in seconds), bytes, greatest
/// staleness, longest queue. A row of moments: round, activity, begin, end, neighbour waited for or
/// -1.
void write_record(const Recorder& recorder,
                  const std::vector<PeerId>& neighbors,
                  const std::string& folder,
                  std::uint64_t life,
                  Time epoch,
                  const std::optional<ProcessUse>& use);

/// Record of a process's life on disk, written every ten seconds, after the rounds of keep_whole()
/// and at the end; a killed process loses at most the last ten seconds. Earlier lives keep theirs.
class LifeRecord {
 public:
  /// `neighbors`: ascending. `folder`: the peer's own folder.
  LifeRecord(std::string folder,
             PeerId peer,
             std::vector<PeerId> neighbors,
             const RecordLimits& limits);

  /// See write_record.
  void set_epoch(Time epoch) { epoch_ = epoch; }
  Recorder& recorder() { return recorder_; }
  /// Writes the record if it is due. Returns the reason of the first failure, otherwise "".
  Verdict write_when_due(Time now);
  Verdict write();

 private:
  static constexpr Time every{std::chrono::seconds(10)};

  std::string folder_;
  std::uint64_t life_;  ///< number that no file of the folder has yet
  std::vector<PeerId> neighbors_;
  Recorder recorder_;
  Time due_{every};
  Time epoch_{0};
  bool failed_ = false;
};

}  // namespace gv
