#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "gossip/world.h"

namespace gv {

/// The extent to which a peer believes its neighbours' clocks. A clock that is far ahead makes the
/// peer pass rounds over, and one that is far beyond the run's end would end it: so no single
/// neighbour is believed where another one could know better.
/// Invariant: a clock more than `slack` rounds ahead of ours, or beyond `rounds`, is believed only
/// as far as a second neighbour has claimed it too; where only one neighbour is left, only as far
/// as the elapsed time allows at twice the fastest pace that was seen here.
class ClockBound {
 public:
  /// `slack`: so far ahead, rounds differ in every fleet, and nobody acts upon it.
  ClockBound(std::size_t neighbors, Round rounds, Round slack)
      : neighbors_(neighbors), rounds_(rounds), slack_(slack) {}

  /// Returns what to believe when `from` says `claim` and our own clock says `own`.
  Round believe(PeerId from, Round claim, Round own, Time now);
  /// It has died or left: nobody waits for what it would claim.
  void leaves(PeerId neighbor) { gone_.insert(neighbor); }
  void returns(PeerId neighbor) { gone_.erase(neighbor); }

 private:
  struct Claim {
    Round clock = 0;
    bool was_level = false;  ///< its clock and ours were once within `slack`
    Round level = 0;         ///< ours then
    Time level_at{0};
  };
  void watch_pace(Round own, Time now);
  Round others_claim(PeerId from) const;
  Round allowed_by_time(const Claim& claim, Time now) const;

  std::size_t neighbors_;
  Round rounds_;
  Round slack_;
  std::map<PeerId, Claim> claims_;
  std::set<PeerId> gone_;
  Time watched_at_{0};
  Round watched_ = 0;
  bool jumped_ = false;  ///< since then a neighbour was believed that was far ahead
  double fastest_ = 0;   ///< rounds per second
};

}  // namespace gv
