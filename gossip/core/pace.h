#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "gossip/core/core.h"

namespace gv {

/// Keeps a peer in step with its neighbours, so that the fleet ends together: round numbers work as
/// Lamport clocks, and a peer skips the rounds that it has missed. Invariants: the clock
/// never goes back; after catch_up() it is less than any neighbour's by at most the tolerated
/// number of rounds, and at most the number of completed rounds; rounds alone are no faster than
/// rounds with a neighbour.
class Pace {
 public:
  Pace(PeerCore& self, const Roster& roster);

  /// Number of rounds completed with a neighbour, and so the number of the present round.
  Round clock() const { return clock_; }
  /// The number of the next round to begin, as far as the present one decides it.
  Round next() const { return begun_ && counts() ? clock_ + 1 : clock_; }
  /// Rounds that this peer took no part in, to catch up.
  Round passed_over() const { return passed_over_; }

  /// Training begins in the core's round: a checkpoint's, or 0.
  void begin() { clock_ = self_.round; }
  /// Returns whether the neighbours have already begun without us. Until they have met us once they
  /// complete no round without us, except the rounds that a schedule allows.
  bool begun_without_us() const;

  void heard_round(std::size_t k, Round round);
  Round heard(std::size_t k) const { return heard_[k]; }
  /// Returns whether neighbour k may be in a round, as far as its clock is believed (ClockBound). A
  /// round up to our own is always believed, because believing it skips no round.
  bool believes(std::size_t k, Round round) const {
    return round <= std::max(clock_ + 1, self_.round) || round <= heard_[k];
  }
  /// Another process has taken the place of neighbour k.
  void replaced(std::size_t k) { heard_[k] = 0; }

  /// Skips, before a round begins, to the first round in which any edge can take part. `first`
  /// returns that round of the edge to neighbour k, or nothing if the edge cannot take part.
  void align(const std::function<std::optional<Round>(std::size_t k)>& first);
  /// A round begins, with a neighbour (`company`) or alone. Rounds alone do not move the clock,
  /// except in a fleet that does not catch up.
  void begins(bool company) {
    in_company_ = company;
    begun_ = true;
  }
  /// Likewise, for a method that uses messages instead of averaging.
  void in_company(bool company) { in_company_ = company; }

  /// A neighbour's message has been taken: this round is one in its company.
  void met() { met_ = true; }
  /// A message of a neighbour has come that lets a resting peer begin its next round.
  void wake();

  /// A round has ended.
  void count_round() {
    if (counts()) ++clock_;
    begun_ = false;
  }
  /// Continues in the furthest round of any neighbour, if it is further than `tolerated`, and skips
  /// this peer's own rounds up to there.
  void catch_up(Round tolerated);
  /// Skips all rounds below this one.
  void pass_to(Round round);
  /// Skips the rest of the rounds because the fleet ends. The neighbours then believe our goodbye.
  void end_at(Round last) {
    pass_to(last);
    if (!self_.plan.catch_up) clock_ = std::max(clock_, last);
  }
  /// Rests before the next round if this one brought nothing, though it was expected to
  /// (`expected`). `company_waits`: a neighbour's half is here for the next round, which may begin
  /// at once; but not twice in succession, because that half may have no answer.
  Task<> keep(bool expected, bool company_waits);
  void begin_round() {
    round_began_ = self_.world.now();
    met_ = false;
  }

  /// Returns the number of rounds that others may be ahead of us before we begin `round`, while
  /// nothing is wrong: a random schedule may leave us out for long.
  Round lead(Round round) const;
  /// Returns that number if one end of an edge does not wait for the other: along the longest way
  /// round to us, one round and the method's overlap at each hop.
  Round lead_one_way() const;

 private:
  friend struct Inspect;  // tests/explore
  bool counts() const { return in_company_ || !self_.plan.catch_up; }
  Round furthest_round() const;
  Time usual() const;
  Task<> rest(Time length);

  PeerCore& self_;
  const Roster& roster_;
  std::vector<Round> heard_;  ///< each neighbour's clock, as far as it is known
  Round clock_ = 0;
  Round passed_over_ = 0;
  bool in_company_ = false;
  bool begun_ = false;  ///< averaging has begun the present round
  bool met_ = false;    ///< a neighbour was met in this round
  Time round_began_{0};
  std::deque<Time> lengths_;  ///< lengths of the rounds from one meeting to the next, see keep()
  Time unmet_{0};             ///< time since the last meeting, see keep()
  Time longest_{0};           ///< longest round of this life
  bool hastened_ = false;     ///< did not rest since the last meeting
  std::uint64_t rests_ = 0;
  std::function<void()> when_woken_;
};

}  // namespace gv
