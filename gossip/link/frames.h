#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "gossip/message.h"

namespace gv {

/// The first frame of each side of a connection: who it is, and how far the conversation has come.
struct Hello {
  std::string fleet;  ///< digest of the resolved fleet file
  std::string model;  ///< digest of the parameter names and shapes
  PeerId peer = 0;
  std::uint64_t incarnation = 0;  ///< of this process; not 0
  std::uint32_t peers = 0;        ///< in the fleet
  /// The other side's incarnation that our session is with; 0: none yet.
  std::uint64_t neighbor_incarnation = 0;
  std::uint64_t received = 0;  ///< of that session: everything up to this number is here
  Round clock = 0;             ///< Peer::clock
  /// The place where it gives its memory to processes of its own machine; empty: nowhere.
  std::string door = {};
  std::uint64_t machine = 0;  ///< whose clock it reads; 0: it does not say
  /// A secret of the two ends of this very connection, so that a Hello of one is none of another;
  /// empty: plain, and no token of the run is known. The carrier puts it in and compares.
  std::string channel = {};
};

/// Sent in place of a Hello: why the connection is refused. Shown to the user on both sides.
struct Refusal {
  std::string reason;
};

/// Sent when there is nothing else to send, and when much waits for its acknowledgement.
struct Heartbeat {
  std::uint64_t ack = 0;   ///< everything up to this number is here
  Round clock = 0;         ///< Peer::clock
  std::uint64_t jobs = 0;  ///< of arithmetic done, since it began
  bool working = false;    ///< on another one
};

/// A message and its place in the session (session.h).
struct NumberedMessage {
  Message message;
  std::uint64_t number = 0;
  std::uint64_t ack = 0;  ///< everything up to this number is here
};

using Frame = std::variant<Hello, Refusal, Heartbeat, NumberedMessage>;

/// Text that came from another machine, fit for a terminal and a log: printable ASCII, everything
/// else as \xNN, and at most 128 bytes of it, the last three of them dots where it was cut.
std::string printable(std::string_view text);

}  // namespace gv
