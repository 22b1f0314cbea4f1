#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "graph/topology/topology.h"
#include "optim/buffer.h"

namespace gv {

/// Since the world began; real or virtual.
using Time = std::chrono::nanoseconds;

inline double in_seconds(Time time) {
  return std::chrono::duration<double>(time).count();
}

/// A round of the algorithm: one exchange and its local steps. Every peer counts its own from 0.
using Round = std::uint64_t;

/// The number of an exchange of one edge, as ledgers and judges count: both ends count the rounds
/// in which both have sent a half (merge_join.h), from 0 when they met. So it is lower than the
/// round after an absence, and restarts with a successor.
struct ExchangeNumber {
  std::uint64_t value = 0;
  auto operator<=>(const ExchangeNumber&) const = default;
  ExchangeNumber next() const { return {value + 1}; }
};

/// Models travel in pieces of so many floats (512 KiB), the last one shorter: a piece stays in the
/// cache between the socket and the mixing, which begins before the rest has come.
inline constexpr std::size_t piece_floats = 131'072;

/// The purpose of a message. From 16 on, kinds are the channels that methods open.
enum class Kind : std::uint8_t {
  contribution = 1,  ///< x of the sender in round `number` of its clock; `part` is the piece
  /// The sender stops: `number` is the first that it takes no part in; `part` is 1 when it has not
  /// done all of its rounds.
  goodbye = 4,
  fetch = 5,       ///< the sender has lost its model and asks for ours
  model_copy = 6,  ///< the answer; `part` is the piece. Without a payload: there is none to give
  /// The sender waits for somebody (`part` 1), or no longer does (0); `number` is the end of its
  /// chain of waits (post_waits.h).
  held_up = 7,
  verb = 8,  ///< of what programs do together beside the method (verb.h); `part` is the piece
  /// The sender will send no contribution below `number`, so the receiver waits for none.
  beyond = 9,
  reduce = 16,   ///< collective operation: a part of a sum; `part` numbers those to this receiver
  gather = 17,   ///< collective operation: a sum that is whole; `part` as well
  push = 18,     ///< a question with a vector, to a server or a neighbour, in round `number` of the
                 ///< sender
  pull = 19,     ///< the answer
  ready = 20,    ///< the sender has time for samples: of its minibatch `number`, or of others'
  samples = 21,  ///< samples to train on, packed (optim/data/packed.h); `part` is the slice
  activation = 22,           ///< what crosses a cut of a chain with microbatch `part` (chain.h)
  activation_gradient = 23,  ///< and the gradient by it, on the way back
};

inline constexpr bool is_channel(Kind kind) {
  return static_cast<std::uint8_t>(kind) >= 16;
}

struct Message {
  PeerId from = 0;
  Kind kind = Kind::contribution;
  std::uint64_t number = 0;  ///< the round, or what the channel counts; see Kind
  std::uint32_t part = 0;
  Payload payload;  ///< null: no payload
  /// The sender's clock (Peer::clock).
  Round round = 0;
  std::uint32_t degree = 0;  ///< contribution: with how many neighbours the sender exchanges
  /// contribution, in a fleet that clips: the longest distance that is to count whole (clipping.h).
  float bound = 0;
  /// The process of its sender that sent it, of a channel's message that has come (Roster::life).
  std::uint64_t life = 0;
  /// The time of sending: on the way by the sender's World::stamp, then by the receiver's now().
  Time sent{0};
};

/// The fate of a channel's messages until somebody asks for them.
enum class Keeps : std::uint8_t {
  /// Each waits until it is asked for by its sender, number and part. What is below a number that
  /// was asked for is nobody's any more.
  numbered,
  queue,  ///< all wait, in the order in which they came: what is done with them depends on it
};

/// A stream of messages that a method opens, and what may come on it. Each is known by its sender,
/// its number and its part, and comes once.
struct Channel {
  Kind kind = Kind::reduce;    ///< its own, see is_channel()
  std::size_t most_bytes = 0;  ///< of a payload
  /// Returns whether a payload of so many bytes can be part `part` of what `from` sends. From the
  /// fleet file, never from the wire. Zero bytes: a message without a payload.
  std::function<bool(PeerId from, std::uint32_t part, std::size_t bytes)> fits;
  std::uint32_t most_waiting = 2;  ///< of one sender, not asked for yet; more is refused
  Keeps keeps = Keeps::numbered;
};

}  // namespace gv
