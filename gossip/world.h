#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "gossip/message.h"

namespace gv {

/// Since the world began; real or virtual.
using Time = std::chrono::nanoseconds;

/// What a peer cannot decide itself: the time, the delivery, the arithmetic threads. One per peer;
/// every callback runs on the peer's own loop, one at a time. TcpWorld: Asio and the wall clock.
/// SimWorld: an event queue and a virtual one.
class World {
 public:
  virtual ~World() = default;
  virtual Time now() const = 0;
  /// Delivers to a neighbour, in order per ordered pair; never blocks. What cannot be delivered now
  /// is kept for when the neighbour is back.
  virtual void send(PeerId to, Message message) = 0;
  virtual void after(Time delay, std::function<void()> f) = 0;
  /// Runs `job` off the loop, then `done` on it. `flops` is the work, for a virtual clock. One job
  /// at a time per peer, in the order of the calls.
  virtual void offload(double flops, std::function<void()> job, std::function<void()> done) = 0;
  /// All that this peer has sent, on the wire.
  virtual std::uint64_t sent_bytes() const = 0;
};

}  // namespace gv
