#pragma once

#include <algorithm>
#include <cstdint>

#include "gossip/seam/message.h"
#include "optim/buffer.h"

namespace gv {

struct Plan;

/// Knowledge of one end of an edge about an exchange when it weighs the flow.
struct Terms {
  PeerId peer = 0;           ///< the other end
  bool two_way = true;       ///< both ends send
  float weight = 0;          ///< W_ij, of the round in which the exchange began here
  Round round = 0;           ///< the number of both halves
  std::uint32_t degree = 0;  ///< ours, as sent with our contribution
  std::uint32_t theirs_degree = 0;
};

/// Reason why an awaited half has not come.
enum class Missing : std::uint8_t { late, away };

/// Reason why a wait ends without its message.
enum class Interruption : std::uint8_t {
  away,       ///< the neighbour is silent
  passed,     ///< the neighbour has passed that round
  deadline,   ///< the neighbour lives and makes no progress
  patience,   ///< our rounds are done, and it is away
  successor,  ///< another process has taken its place
};

/// Parts of the exchanges of a dead peer that its successor takes over.
struct Legacy {
  bool exchange = false;  ///< the one left open
  bool numbers = false;
  bool mail = false;  ///< messages of the dead one
  bool sums = false;  ///< increments exchanged (Traffic::running), and past flows
};

/// The decisions of the exchange protocol (exchange.h). Each is the same at both ends, because it
/// follows from what both ends know. Tests replace one by a wrong one and show that the swarm
/// notices.
class Rules {
 public:
  virtual ~Rules() = default;

  /// Returns the weight of an edge's flow. Fixed W: its entry. Live degrees: the Metropolis weight
  /// min(1 / (1 + d_i), 1 / (1 + d_j)) of the degrees sent with this exchange. Schedule: the
  /// entry of its round.
  virtual float weight(const Plan& plan, const Terms& terms) const;
  /// Returns the distance that counts whole on an edge: the shorter of the two that its ends sent
  /// with this exchange, so that a liar can only hold back its own values.
  virtual double bound(double ours, double theirs) const { return std::min(ours, theirs); }
  /// Returns whether another exchange may begin on an edge: not while one is open.
  virtual bool begins(bool open) const { return !open; }
  /// Returns whether an exchange with a missing half stays open: no end ever voids one alone.
  virtual bool stays_open(Missing) const { return true; }
  /// Returns whether a peer sends `beyond` for a half that it will not answer: always, because the
  /// neighbour waits for an answer.
  virtual bool says_beyond() const { return true; }
  /// Returns whether a round waits for the unmatched halves of earlier rounds as well: without it
  /// an edge may stay silent for as long as its ends take turns in missing each other.
  virtual bool waits_for_older() const { return true; }
  /// Returns whether rounds alone may be no faster than rounds with a neighbour.
  virtual bool limits_pace() const { return true; }
  /// Returns whether a wait ends for this reason: always, so that no peer waits for ever.
  virtual bool ends_wait(Interruption) const { return true; }
  /// Returns whether the wait for a neighbour that waits, in the end, for us has no end.
  virtual bool excuses_circles() const { return false; }
  /// Returns whether the last exchanges are settled before the goodbye.
  virtual bool settles_before_leaving() const { return true; }
  /// Returns nothing by default: a successor begins a new conversation.
  virtual Legacy legacy() const { return {}; }
  /// Returns whether a neighbour's piece of a model may replace our own: not unless it is finite.
  virtual bool takes_model(const Buffer& piece) const;
};

/// Returns the rules above unchanged.
const Rules& documented_rules();

}  // namespace gv
