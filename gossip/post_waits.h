#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gossip/core.h"
#include "gossip/mailbox.h"
#include "gossip/plan.h"
#include "gossip/roster.h"

namespace gv {

/// The ends of the chains of waits that begin with a neighbour: k waits for somebody, who waits for
/// somebody. Each peer tells its neighbours the end of its own chain as far as it knows it, and so
/// it is passed on along the chain (Chandy, Misra & Haas 1983, "Distributed deadlock detection"):
/// in every circle of waits there is a peer that hears its own name.
///
/// An end is the id of a peer or, from plan.peers on, an absence so many links away. A chain that
/// ends at an absence is no circle, wherever it leads: who is away for one may be there for
/// another. One of more links than there are peers is an old story that runs in a circle, and is
/// told as a wait for the one who tells it.
class WaitChains {
 public:
  using End = std::uint64_t;

  WaitChains(const PeerCore& self, const Roster& roster)
      : self_(self), roster_(roster), told_(self.neighbors.size()) {}

  /// Neighbour k waits for somebody (part 1; `number` is the end of its chain), or no longer does.
  /// False: not in this form.
  bool hear(std::size_t k, const Message& message);
  void forget(std::size_t k) { told_[k].reset(); }

  bool waits(std::size_t k) const { return told_[k].has_value(); }
  /// Returns whether a wait for k is, in the end, one for somebody who is away.
  bool absence(std::size_t k) const;
  /// Returns whether k waits, in the end, for us or for itself.
  bool circle(std::size_t k) const;

  /// Returns the end of the chain that begins with a wait for neighbour k.
  End end(std::size_t k) const;

  /// One of the chains of a wait for anybody: it begins with neighbour k.
  struct Chain {
    std::size_t k = 0;
    End end = 0;
  };
  /// Returns those that begin with who is awaited and do not lead to us.
  std::vector<Chain> chains(const std::function<bool(PeerId)>& awaited) const;
  /// The end of such a wait as neighbour `told` should hear it: of a chain that does not lead
  /// through that one, where there is such a chain. Nothing: all lead to us.
  std::optional<End> end_of_any(const std::vector<Chain>& chains, std::size_t told) const;

 private:
  const PeerCore& self_;
  const Roster& roster_;
  std::vector<std::optional<End>> told_;  ///< by each neighbour that waits itself
};

/// Returns for how long a collective waits for a neighbour that lives and does not get on; 0:
/// without end. At least until it is known whether the neighbour lives, and in a chain also for as
/// long as a stage may be held up by averaging.
Time collective_deadline(const Plan& plan);

/// How long a neighbour that waits itself may hold a wait up: each waits for the next one, and the
/// last of them for who is stuck. In averaging and in collectives such waits may lead through the
/// whole fleet. From stage to stage they lead through one chain, of which each may wait for the
/// same stage of every other model. Twice over: a link may join them when they are about to end.
Time longest_waits(const Plan& plan, Absence absence);

}  // namespace gv
