#pragma once

#include <algorithm>
#include <cstdint>

#include "gossip/message.h"
#include "optim/buffer.h"

namespace gv {

struct Plan;

/// The facts that one end of an edge knows of an exchange when it weighs its flow.
struct Terms {
  PeerId peer = 0;           ///< the other end
  bool two_way = true;       ///< both ends send
  float weight = 0;          ///< W_ij, of the round in which the exchange began here
  Round round = 0;           ///< the number of both halves
  std::uint32_t degree = 0;  ///< ours, as sent with our contribution
  std::uint32_t theirs_degree = 0;
};

/// The reason why the half that somebody waits for has not come.
enum class Missing : std::uint8_t { late, away };

/// The reason why a wait ends without what it was for.
enum class Interruption : std::uint8_t {
  away,       ///< nothing is heard of the neighbour
  passed,     ///< the neighbour has passed that round
  deadline,   ///< it lives and does not get on
  patience,   ///< our rounds are done, and it is away
  successor,  ///< another process has taken its place
};

/// The things that a successor takes over of the exchanges with the one that died.
struct Legacy {
  bool exchange = false;  ///< the one left open
  bool numbers = false;
  bool mail = false;  ///< what the dead one had sent
  bool sums = false;  ///< what both had told each other (Traffic::running), and what had flowed
};

/// The decisions of the exchange protocol (exchange.h): each is the same at both ends, for it
/// follows from what both of them know. Tests swap one for a wrong one and show that the swarm
/// notices.
class Rules {
 public:
  virtual ~Rules() = default;

  /// The weight of an edge's flow. A fixed W: its entry. The degrees of the moment: the Metropolis
  /// weight min(1 / (1 + d_i), 1 / (1 + d_j)) of those that were sent with this exchange. A
  /// schedule: the entry of its round.
  virtual float weight(const Plan& plan, const Terms& terms) const;
  /// The longest distance that counts whole on an edge, of what its ends have told each other with
  /// this exchange: the shorter one, so that who lies can only hold back what it sends itself.
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
  /// Returns whether rounds alone are limited to the pace of rounds in company.
  virtual bool limits_pace() const { return true; }
  /// Returns whether a wait ends for this reason: always, so that nobody waits for ever.
  virtual bool ends_wait(Interruption) const { return true; }
  /// Returns whether a neighbour that waits, in the end, for us is waited for without end.
  virtual bool excuses_circles() const { return false; }
  /// Returns whether the last exchanges are settled before the goodbye.
  virtual bool settles_before_leaving() const { return true; }
  /// Nothing: a successor begins a conversation of its own.
  virtual Legacy legacy() const { return {}; }
  /// Returns whether a neighbour's piece of a model may replace our own: not unless it is finite.
  virtual bool takes_model(const Buffer& piece) const;
};

/// The rules above as they are.
const Rules& documented_rules();

}  // namespace gv
