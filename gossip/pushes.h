#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/peer.h"
#include "gossip/setup.h"

namespace gv {

/// A vector and a number beside it, which a peer sends in its round `number` of Kind::push.
struct Push {
  Payload vector;
  std::optional<double> number;
  bool whole() const { return vector && number; }
};

/// What neighbours push, where nobody answers: kept until it is taken, by round and sender, which
/// is the order in which it counts. Undisturbed, the pushes of a round are the same whoever comes
/// first.
class Pushes {
 public:
  /// `ahead`: rounds that a neighbour may be ahead of us. Of each no more than that is kept.
  /// Vectors travel in the fleet's codec.
  Pushes(Peer& me, std::uint32_t ahead) : me_(me), ahead_(ahead) {}

  /// v as it is, and a number; what the vector travels as.
  Task<Payload> send(std::vector<PeerId> to, Vector v, double number);
  /// Until everybody of `from` that is there has pushed in this round, or in one behind it (then
  /// nothing of this round comes any more); faults.deadline for each that comes.
  Task<> hear(std::vector<PeerId> from, Round round);
  /// The oldest push of a round up to `until`, and who sent it; nothing: there is none. It is no
  /// longer here.
  struct Taken {
    Push push;
    PeerId from = 0;
  };
  std::optional<Taken> take(Round until);

 private:
  bool has(PeerId from, Round round) const;
  void keep(Message message);

  Peer& me_;
  const std::uint32_t ahead_;
  std::map<std::pair<Round, PeerId>, Push> kept_;
};

/// The floats of what `from` sent as a vector of ours. Null: it is none of this length, or not
/// finite, and must count nowhere. What is not finite is said.
Task<Payload> sound(Peer& me, PeerId from, Payload vector, std::optional<Codec> codec);
/// In the fleet's codec.
inline Task<Payload> sound(Peer& me, PeerId from, Payload vector) {
  return sound(me, from, std::move(vector), me.codec());
}

/// What Pushes with the same `ahead` sends and hears.
std::vector<Channel> push_channels(const Setup& setup, std::size_t d, std::uint32_t ahead);

}  // namespace gv
