#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "gossip/core.h"
#include "gossip/roster.h"

namespace gv {

/// Keeps a peer in step with its neighbours, so that the fleet ends together: round numbers work as
/// Lamport clocks, and what a peer has missed it passes over. Invariant: the clock never goes back,
/// and after catch_up() it is at most the tolerated rounds behind any neighbour that was heard.
class Pace {
 public:
  Pace(PeerCore& self, const Roster& roster);

  /// Rounds completed in the company of a neighbour.
  Round clock() const { return clock_; }
  /// Rounds that this peer took no part in, to catch up.
  Round passed_over() const { return passed_over_; }

  /// Training begins in the round that the core says: what a checkpoint or nothing gives.
  void begin() { clock_ = self_.round; }
  /// Returns whether the neighbours had begun without us by then. They complete no round without us
  /// before we were once among them, or no more than a schedule lets them.
  bool begun_without_us() const;

  void heard_round(std::size_t k, Round round);
  Round heard(std::size_t k) const { return others_[k].round; }
  /// Neighbour k began an exchange so many rounds after us.
  void is_ahead(std::size_t k, Round rounds) { others_[k].ahead = rounds; }
  /// Another process has taken its place.
  void replaced(std::size_t k) { others_[k] = {}; }

  /// Passes before a round begins to the round of the neighbours when all that are `free` to
  /// exchange are ahead of us.
  void align(const std::function<bool(std::size_t k)>& free);
  /// Returns whether neighbour k is left out of this round, for it is ahead: counted.
  bool sits_out(std::size_t k);
  /// Is told whether this round is done in the company of a neighbour, so that it counts for the
  /// others. In a fleet that does not catch up every round does.
  void in_company(bool company) { in_company_ = company; }

  /// A neighbour's message has been taken: this round is one in its company.
  void met() { met_ = true; }
  /// Something has come of a neighbour: who rests has a round to do with it.
  void wake();

  /// A round has ended.
  void count_round() {
    if (in_company_ || !self_.plan.catch_up) ++clock_;
  }
  /// Goes on in the furthest round that was heard of, if it is further than `tolerated`; passes
  /// over rounds of its own only where more than `bearable` are missing.
  void catch_up(Round tolerated, Round bearable);
  /// Returns how far behind the others a peer still does all of its rounds.
  Round bearable_lag() const;
  /// Rests before the next round: alone, it is not to come before the others' time. `lonely`:
  /// somebody may come back, or answer.
  Task<> keep(bool lonely);
  void begin_round() { round_began_ = self_.world.now(); }

  /// Returns by how many rounds others may be ahead of us before we begin `round`, while nothing is
  /// wrong: a random schedule may leave us out for long.
  Round lead(Round round) const;
  /// Returns the same where one end of an edge does not wait for the other: along the longest way
  /// round to us, at each hop by a round and what the method lets them overlap.
  Round lead_one_way() const;

 private:
  struct Other {
    Round round = 0;  ///< its clock, as far as we heard
    Round ahead = 0;  ///< so many rounds are to pass before our next exchange with it
  };
  Round furthest_round() const;
  Time usual() const;  ///< length of a round in which somebody was met
  bool abreast() const;
  Task<> rest(Time length);

  PeerCore& self_;
  const Roster& roster_;
  std::vector<Other> others_;
  Round clock_ = 0;
  Round passed_over_ = 0;
  bool in_company_ = false;
  bool met_ = false;  ///< somebody, in this round
  Time round_began_{0};
  std::deque<Time> lengths_;  ///< of the last rounds in which somebody was met
  int trust_ = 1;             ///< by which usual() is divided
  Time due_alone_{0};         ///< when the last round alone was to end, at that pace
  std::uint64_t rests_ = 0;
  std::function<void()> when_woken_;
};

}  // namespace gv
