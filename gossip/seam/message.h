#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "graph/topology/topology.h"
#include "optim/buffer.h"

namespace gv {

/// Time since the world began; real or virtual.
using Time = std::chrono::nanoseconds;

inline double in_seconds(Time time) {
  return std::chrono::duration<double>(time).count();
}

/// A round of the algorithm: one exchange and its local steps. Every peer counts its own from 0.
using Round = std::uint64_t;

/// The number of an exchange of one edge, for ledgers and judges: both ends count the rounds in
/// which both have sent a half (exchange.h), from 0 when they met. After an absence it is lower
/// than the round, and it restarts with a successor.
struct ExchangeNumber {
  std::uint64_t value = 0;
  auto operator<=>(const ExchangeNumber&) const = default;
  ExchangeNumber next() const { return {value + 1}; }
};

/// Number of floats in a piece (512 KiB) of a model; the last one is shorter. A piece stays in the
/// cache between socket and mixing, which begins before the others have come.
inline constexpr std::size_t piece_floats = 131'072;

/// The purpose of a message. From 16 on, kinds are the channels that methods open.
enum class Kind : std::uint8_t {
  contribution = 1,  ///< x of the sender in round `number` of its clock; `part` is the piece
  /// The sender stops: `number` is the first round that it takes no part in; `part` is 1 if it has
  /// not done all of its rounds.
  goodbye = 4,
  fetch = 5,       ///< the sender has lost its model and asks for ours
  model_copy = 6,  ///< the answer; `part` is the piece. No payload: the sender has no model to give
  /// The sender waits for another peer (`part` 1), or no longer does (0); `number` is the end of
  /// its chain of waits (post_waits.h).
  held_up = 7,
  verb = 8,  ///< a step of a program's verb (verb.h); `part` is the piece
  /// The sender will send no contribution below `number`, so the receiver waits for none.
  beyond = 9,
  reduce = 16,      ///< collective operation: a part of a sum; `part` numbers them by receiver
  gather = 17,      ///< collective operation: a complete sum; `part` likewise
  push = 18,        ///< a question with a vector, to a server or a neighbour, in round `number`
  pull = 19,        ///< the answer
  ready = 20,       ///< the sender has time for samples: its minibatch `number`, or others'
  samples = 21,     ///< samples to train on, packed (optim/data/packed.h); `part` is the slice
  activation = 22,  ///< values at a cut of a chain, of microbatch `part` (chain.h)
  activation_gradient = 23,  ///< the gradient by them, on the way back
};

/// Bits of the `part` of a goodbye.
inline constexpr std::uint32_t leaves_early = 1;  ///< before its last round
/// The algorithm has ended, and the process stays for the last exchange: another goodbye follows.
inline constexpr std::uint32_t stays_for_half = 2;

inline constexpr bool is_channel(Kind kind) {
  return static_cast<std::uint8_t>(kind) >= 16;
}

struct Message {
  PeerId from = 0;
  Kind kind = Kind::contribution;
  std::uint64_t number = 0;  ///< the round, or the channel's own count; see Kind
  std::uint32_t part = 0;
  Payload payload;  ///< none if the message has no payload
  /// The sender's clock (Peer::clock).
  Round round = 0;
  std::uint32_t degree = 0;  ///< contribution: number of neighbours that the sender exchanges with
  /// contribution, in a fleet that clips: the longest distance that counts whole (clipping.h).
  float bound = 0;
  /// Received channel message: the process of its sender that sent it (Roster::life).
  std::uint64_t life = 0;
  /// Time of sending: by the sender's World::stamp while under way, then by the receiver's now().
  Time sent{0};
};

/// Order in which a channel gives its messages to the algorithm.
enum class Keeps : std::uint8_t {
  /// Each waits for its sender, number and part. Asking for a number drops lower ones.
  numbered,
  queue,  ///< all wait in order of arrival; the result depends on that order
};

/// A stream of messages that a method opens, and what may come on it. A message is identified by
/// its sender, its number and its part, and comes once.
struct Channel {
  Kind kind = Kind::reduce;    ///< the channel's own kind, see is_channel()
  std::size_t most_bytes = 0;  ///< maximum size of a payload
  /// Returns whether a payload of this size can be part `part` from `from`. Computed from the fleet
  /// file, never from the wire. Zero bytes: a message without a payload.
  std::function<bool(PeerId from, std::uint32_t part, std::size_t bytes)> fits;
  std::uint32_t most_waiting = 2;  ///< messages of one sender not asked for yet; more are refused
  Keeps keeps = Keeps::numbered;
};

}  // namespace gv
