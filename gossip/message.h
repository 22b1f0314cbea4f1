#pragma once

#include <cstdint>

#include "graph/topology/topology.h"
#include "optim/buffer.h"

namespace gv {

/// A round of the algorithm: one exchange and its local steps.
using Step = std::uint64_t;

/// Models travel in pieces of so many floats (512 KiB), the last one shorter: a piece stays in the
/// cache between the socket and the mixing, which begins before the rest has come.
inline constexpr std::size_t piece_floats = 131'072;

enum class Kind : std::uint8_t {
  model = 1,   ///< x of the sender in exchange `step`; `part` numbers the piece
  reduce = 2,  ///< collective operation: a part of a sum; `part` numbers those to this receiver
  gather = 3,  ///< collective operation: a sum that is whole; `part` as well
  /// The sender stops: `step` is the first step it will not take part in; `part` is 1 when it has
  /// not done all of its rounds. No payload.
  goodbye = 4,
  fetch = 5,  ///< the sender has lost its model and asks for ours. No payload
  state = 6,  ///< the answer; `part` numbers the piece. Without a payload: there is none to give
};

struct Message {
  PeerId from = 0;
  Kind kind = Kind::model;
  Step step = 0;
  std::uint32_t part = 0;
  Payload payload;  ///< null: no payload
  /// The sender's clock (Peer::clock); with a schedule the round in which its half began.
  Step round = 0;
  std::uint32_t degree = 0;  ///< model: with how many neighbours the sender exchanges in this round
};

}  // namespace gv
