#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/peer.h"
#include "gossip/seam/setup.h"

namespace gv {

/// A vector and a number, which a peer sends in its round `number` of Kind::push. A number of 0
/// comes without a vector: the sender has nothing to give.
struct Push {
  Payload vector;
  std::optional<double> number;
  bool whole() const { return number && (vector || *number == 0); }
};

/// The decisions of pushes. Tests replace one by a wrong one and show that the swarm notices. A
/// peer whose rules do not include pushes uses these.
class PushRules : public Rules {
 public:
  /// Returns whether to keep a push whose sender is too far ahead of us: always, because we may be
  /// the one that stood still, and then that push is the newest we need.
  virtual bool keeps_what_is_far_ahead() const { return true; }
  /// Returns whether one deadline covers all messages of a round. Otherwise each message of one
  /// peer would lengthen the wait for another peer's missing one.
  virtual bool one_deadline() const { return true; }
};

/// The pushes of neighbours, which need no answer: kept until taken, in the order by round and
/// sender in which they count. Undisturbed, the pushes of a round are the same in whatever order
/// they come.
class Pushes {
 public:
  /// `ahead`: rounds that a neighbour may be ahead of us while nothing is wrong. Pushes beyond that
  /// count as soon as they arrive, so that nothing is lost, and no more than that are kept of each
  /// neighbour. Vectors travel in the fleet's codec. Rounds are those of the fleet's clock, so a
  /// peer that did some rounds alone is not ahead.
  Pushes(Peer& me, std::uint32_t ahead) : me_(me), ahead_(ahead) {}

  /// Sends v as it is, and a number. Returns the payload that the vector travels as.
  Task<Payload> send(std::vector<PeerId> to, Vector v, double number);
  void send_nothing(const std::vector<PeerId>& to);
  /// Receives until every peer of `from` that is there has pushed in this round or is beyond it
  /// (and so sends nothing more in it), or until faults.deadline has passed for all together. `to`:
  /// a receiver that was away and comes back during the wait is sent an empty push, so that it does
  /// not wait for us. Returns false if a push must be taken before the others are received, by the
  /// same deadline.
  Task<bool> hear(std::vector<PeerId> from, Round round, std::vector<PeerId> to);
  /// Removes and returns the oldest push of a round up to `until`, or of a neighbour too far ahead,
  /// with its sender; nothing if there is none.
  struct Taken {
    Push push;
    PeerId from = 0;
  };
  std::optional<Taken> take(Round until);

 private:
  bool has(PeerId from, Round round) const;
  std::ptrdiff_t whole_of(PeerId from) const;  ///< number of pushes that are kept
  bool too_far_ahead(PeerId from) const { return whole_of(from) > ahead_; }
  void keep(Message message);
  void reach_who_is_back(const std::vector<PeerId>& to);

  Peer& me_;
  const std::uint32_t ahead_;
  std::map<std::pair<Round, PeerId>, Push> kept_;
  std::map<PeerId, Round> newest_;   ///< the last round from which a push of each peer has come
  std::map<PeerId, Round> reached_;  ///< the round in which we last sent to each peer
  std::optional<Time> until_;        ///< deadline of the present receive
};

/// Returns the floats of a vector that `from` sent. Null if the length is wrong or a value is not
/// finite: then it must count nowhere. Logs values that are not finite and, in a fleet that clips
/// its sums, counts them as cut off from a sender that trains.
Task<Payload> sound(Peer& me, PeerId from, Payload vector, std::optional<Codec> codec);
/// sound() in the fleet's codec.
inline Task<Payload> sound(Peer& me, PeerId from, Payload vector) {
  return sound(me, from, std::move(vector), me.codec());
}

/// Returns the channels that Pushes with the same `ahead` uses.
std::vector<Channel> push_channels(const Setup& setup, std::size_t d, std::uint32_t ahead);

}  // namespace gv
