#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/mail/mailbox.h"
#include "gossip/seam/plan.h"

namespace gv {

/// The ends of the chains of waits that begin with a neighbour: k waits for a peer that waits for
/// another one, and so on. Each peer reports the end of its own chain, as far as it is known, to
/// its neighbours, which pass it on along the chain (Chandy, Misra & Haas 1983, "Distributed
/// deadlock detection"): in every circle of waits some peer receives its own id.
///
/// An end is the id of a peer or, from plan.peers on, an absence and its distance in links. A chain
/// that ends at an absence is no circle, wherever it leads, because a peer that is away for one may
/// be there for another. A report with more links than there are peers is outdated and runs in a
/// circle; it is treated as a wait for the peer that sent it.
class WaitChains {
 public:
  using End = std::uint64_t;

  WaitChains(const PeerCore& self, const Roster& roster)
      : self_(self), roster_(roster), told_(self.neighbors.size()) {}

  /// Neighbour k waits for another peer (part 1; `number` is the end of its chain), or no longer
  /// does. Returns false if the message has another form.
  bool hear(std::size_t k, const Message& message);
  void forget(std::size_t k) { told_[k].reset(); }

  bool waits(std::size_t k) const { return told_[k].has_value(); }
  /// Returns whether a wait for k is, in the end, a wait for an absent peer.
  bool absence(std::size_t k) const;
  /// Returns whether k waits, in the end, for us or for itself.
  bool circle(std::size_t k) const;

  /// Returns the end of the chain that begins with a wait for neighbour k.
  End end(std::size_t k) const;

  /// One of the chains of a wait for any sender: it begins with neighbour k.
  struct Chain {
    std::size_t k = 0;
    End end = 0;
  };
  /// Returns the chains that begin with an awaited neighbour and do not lead to us.
  std::vector<Chain> chains(const std::function<bool(PeerId)>& awaited) const;
  /// Returns the end of such a wait for neighbour `told`: of a chain that does not lead through
  /// `told`, if there is one. Returns nothing if all chains lead to us.
  std::optional<End> end_of_any(const std::vector<Chain>& chains, std::size_t told) const;

 private:
  const PeerCore& self_;
  const Roster& roster_;
  std::vector<std::optional<End>> told_;  ///< reports of the neighbours that wait themselves
};

/// Returns the time that a collective waits for a neighbour that lives and makes no progress; 0:
/// without end. At least until it is known whether the neighbour lives, and in a chain also as long
/// as averaging may hold up a stage.
Time collective_deadline(const Plan& plan);

/// Returns how long a neighbour that waits itself may hold up a wait: each waits for the next one,
/// and the last peer of the chain for one that is stuck. In averaging and in collectives such waits
/// may lead through the whole fleet. Between stages they lead through one chain, of which each
/// stage may wait for the same stage of every other model. Doubled: a link may join them late.
Time longest_waits(const Plan& plan, Absence absence);

}  // namespace gv
