#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/peer.h"
#include "gossip/setup.h"

namespace gv {

/// A vector and a number beside it, which a peer sends in its round `number` of Kind::push. A
/// number of 0 comes alone: there is nothing to give.
struct Push {
  Payload vector;
  std::optional<double> number;
  bool whole() const { return number && (vector || *number == 0); }
};

/// The decisions of pushes. Tests swap one for a wrong one and show that the swarm notices; a peer
/// whose rules know nothing of pushes goes by these.
class PushRules : public Rules {
 public:
  /// Returns whether a push is kept whose sender is further ahead of us than it should be: always,
  /// since it may be we who stood still, and then it is the newest that we need.
  virtual bool keeps_what_is_far_ahead() const { return true; }
  /// Returns whether all that is heard in a round is heard by one deadline: else each message of
  /// somebody would lengthen the wait for what another one does not send.
  virtual bool one_deadline() const { return true; }
};

/// The pushes of neighbours, where nobody answers: kept until it is taken, by round and sender,
/// which is the order in which it counts. Undisturbed, the pushes of a round are the same whoever
/// comes first.
class Pushes {
 public:
  /// `ahead`: rounds that a neighbour may be ahead of us while nothing is wrong. What somebody
  /// pushes beyond that counts as soon as it is there, so that nothing is lost, and no more than
  /// that is kept of each. Vectors travel in the fleet's codec.
  /// `by_clock`: rounds are those of the fleet's clock, and who has done some alone is not ahead;
  /// else each peer's own, and who has done some alone does seven while the others do eight, until
  /// they are level with it: were they to be level at once, it would stand still for a deadline in
  /// each round.
  Pushes(Peer& me, std::uint32_t ahead, bool by_clock)
      : me_(me), ahead_(ahead), by_clock_(by_clock) {}

  /// v as it is, and a number; what the vector travels as.
  Task<Payload> send(std::vector<PeerId> to, Vector v, double number);
  void send_nothing(const std::vector<PeerId>& to);
  /// Hears until everybody of `from` that is there has pushed in this round, or is beyond it (then
  /// nothing of this round comes any more); faults.deadline for all of them together. `to`: who of
  /// them was away and comes back meanwhile is sent nothing, so that it does not wait for us.
  /// False: something is to be taken before the rest is heard, by the same deadline.
  Task<bool> hear(std::vector<PeerId> from, Round round, std::vector<PeerId> to);
  /// The oldest push of a round up to `until`, or of somebody too far ahead, and who sent it;
  /// nothing: there is none. It is no longer here.
  struct Taken {
    Push push;
    PeerId from = 0;
  };
  std::optional<Taken> take(Round until);

 private:
  Round now() const { return by_clock_ ? me_.clock() : me_.round; }
  bool has(PeerId from, Round round) const;
  /// Sets the round up to which each of `from` is to have pushed before this one ends.
  void expect(const std::vector<PeerId>& from, Round round);
  std::ptrdiff_t whole_of(PeerId from) const;  ///< pushes that are kept
  bool too_far_ahead(PeerId from) const { return whole_of(from) > ahead_; }
  void keep(Message message);
  void reach_who_is_back(const std::vector<PeerId>& to);

  Peer& me_;
  const std::uint32_t ahead_;
  const bool by_clock_;
  std::map<std::pair<Round, PeerId>, Push> kept_;
  std::map<PeerId, Round> newest_;   ///< the last round of which we have whose push, or had
  std::map<PeerId, Round> reached_;  ///< in which round we last sent to whom
  std::map<PeerId, Round> heard_;    ///< newest_ when we last ended a round
  std::map<PeerId, Round> needed_;   ///< see expect
  std::optional<Time> until_;        ///< the deadline of what is heard
};

/// The floats of what `from` sent as a vector of ours. Null: it is none of this length, or not
/// finite, and must count nowhere. What is not finite is said, and in a fleet that clips its sums
/// counted as cut off whoever trains and gave it.
Task<Payload> sound(Peer& me, PeerId from, Payload vector, std::optional<Codec> codec);
/// Does the same in the fleet's codec.
inline Task<Payload> sound(Peer& me, PeerId from, Payload vector) {
  return sound(me, from, std::move(vector), me.codec());
}

/// Returns the channels on which Pushes with the same `ahead` sends and hears.
std::vector<Channel> push_channels(const Setup& setup, std::size_t d, std::uint32_t ahead);

}  // namespace gv
