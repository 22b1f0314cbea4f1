#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "gossip/exchange.h"
#include "gossip/journal.h"
#include "gossip/pace.h"
#include "gossip/post.h"
#include "gossip/roster.h"

namespace gv {

/// Finds a peer that ends its rounds alone faster than it did in company: more than twice ten
/// rounds, most of them alone, within the time of ten. Rounds in company have the pace of their
/// neighbours and are not judged. The usual length of a round is the
/// least mean of several in company so far, so that a fleet that has become slower changes nothing.
class PaceWatch {
 public:
  static constexpr std::size_t rounds = 10;  ///< number of rounds whose usual length is the window
  static constexpr std::size_t most_times =
      2;  ///< rounds that may end within it, in units of these

  /// A round has ended. `company`: a neighbour's message was taken in it, or it needed none.
  /// Returns the finding when it is made for the first time.
  std::optional<RunAhead> see(Round round, Time now, bool company);
  const std::optional<RunAhead>& found() const { return found_; }

 private:
  struct End {
    Time at{0};
    bool alone = false;
  };
  void meet(Time now);
  bool too_fast() const;

  std::deque<Time> met_;       ///< the ends of the last rounds in company
  std::optional<Time> usual_;  ///< see above; nothing if not known yet
  std::deque<End> ends_;       ///< ends of the newest rounds
  std::optional<RunAhead> found_;
};

/// Watches whether a peer keeps its pace, and whether each of its edges still carries flows.
class SteadyWatch {
 public:
  SteadyWatch(PeerCore& self,
              const Roster& roster,
              const Post& post,
              const Pace& pace,
              const Exchange& exchange)
      : self_(self),
        roster_(roster),
        post_(post),
        pace_(pace),
        exchange_(exchange),
        edges_(self.neighbors.size()) {}

  /// The present round has ended, which the clock does not count yet.
  void end_round();
  const std::optional<RunAhead>& ran_ahead() const { return watch_.found(); }
  /// Returns the edges over which nothing has flowed for long, although the neighbour was there and
  /// did rounds of its own.
  std::vector<SilentEdge> silent() const;

 private:
  struct Edge {
    ExchangeNumber number{};
    bool flows = false;  ///< something has flowed over it
    Round since = 0;     ///< our round of the last flow
    Round rounds = 0;    ///< own rounds ended since then while the neighbour was here
    Round theirs = 0;    ///< its clock then
  };
  bool took_something();
  bool may_meet_somebody() const;
  void look_at_edges(const std::optional<Neighborhood>& row);

  PeerCore& self_;
  const Roster& roster_;
  const Post& post_;
  const Pace& pace_;
  const Exchange& exchange_;
  PaceWatch watch_;
  std::vector<Edge> edges_;
  std::uint64_t taken_ = 0;  ///< messages of neighbours, until the last round
};

}  // namespace gv
