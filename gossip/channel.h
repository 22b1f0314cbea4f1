#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "gossip/message.h"

namespace gv {

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
