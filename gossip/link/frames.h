#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "gossip/seam/message.h"

namespace gv {

/// The first frame of each side of a connection: its identity, and its progress in the session.
struct Hello {
  std::string fleet;  ///< digest of the resolved fleet file
  std::string model;  ///< digest of the parameter names and shapes
  PeerId peer = 0;
  std::uint64_t incarnation = 0;  ///< number of this process; not 0
  std::uint32_t peers = 0;        ///< number in the fleet
  /// Incarnation of the other side's process that our session is with; 0: none yet.
  std::uint64_t neighbor_incarnation = 0;
  std::uint64_t received = 0;  ///< greatest number received in that session
  Round clock = 0;             ///< Peer::clock
  /// Address at which it gives its memory to processes of its own machine; empty if it gives none.
  std::string door = {};
  std::uint64_t machine = 0;  ///< machine whose clock it reads; 0: unknown
  /// A secret of the two ends of this connection, so that a Hello of one is not valid on another.
  /// Empty on a plain connection without a token of the run. The carrier sets and compares it.
  std::string channel = {};
};

/// Sent instead of a Hello: why the connection is refused. Shown to the user on both sides.
struct Refusal {
  std::string reason;
};

/// Sent if there is nothing else to send, or if many messages wait for their acknowledgement.
struct Heartbeat {
  std::uint64_t ack = 0;   ///< greatest number received
  Round clock = 0;         ///< Peer::clock
  std::uint64_t jobs = 0;  ///< jobs of arithmetic done since it began
  bool working = false;    ///< at another job
};

/// A message and its place in the session (session.h).
struct NumberedMessage {
  Message message;
  std::uint64_t number = 0;
  std::uint64_t ack = 0;  ///< greatest number received
};

using Frame = std::variant<Hello, Refusal, Heartbeat, NumberedMessage>;

/// Text from another machine, fit for a terminal and a log: printable ASCII, everything else as
/// \xNN, at most 128 bytes; if it was cut, the last three are dots.
std::string printable(std::string_view text);

}  // namespace gv
