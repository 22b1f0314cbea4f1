#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "gossip/seam/message.h"

namespace gv {

/// The two lanes of a peer's arithmetic. In each lane one job runs at a time, in the order of the
/// calls; jobs of different lanes may run at the same time. Every job that writes x runs in `home`.
/// The other lane runs jobs whose input no other job can change: gradients and evaluations of
/// vectors that stay constant, and the wait for a device's result.
enum class Lane : std::uint8_t { home, beside };
inline constexpr std::size_t lanes = 2;

/// The things that a peer cannot decide itself: the time, the delivery, the arithmetic threads. One
/// per peer; every callback runs on the peer's own loop, one at a time. TcpWorld uses Asio and the
/// wall clock, SimWorld an event queue and a virtual clock.
class World {
 public:
  virtual ~World() = default;
  virtual Time now() const = 0;
  /// Delivers to a neighbour, in order per ordered pair; never blocks. A message that cannot be
  /// delivered now is kept until the neighbour is back.
  virtual void send(PeerId to, Message message) = 0;
  /// Returns now() by a clock that all processes of the machine share, as messages carry it
  /// (Message::sent).
  virtual Time stamp() const { return now(); }
  /// Returns when a received message was sent, by now(), as far as is known; not after now().
  virtual Time sent_at(const Message& message) { return message.sent; }
  virtual void after(Time delay, std::function<void()> f) = 0;
  /// Runs `job` in its lane, then `done` on the loop. `flops` is the work, for a virtual clock; 0:
  /// the job takes no virtual time of its own, but it waits for the jobs before it.
  virtual void offload(Lane lane,
                       double flops,
                       std::function<void()> job,
                       std::function<void()> done) = 0;
  /// Returns the bytes that this peer has sent on the wire; data that neighbours read in shared
  /// memory counts as if it had travelled.
  virtual std::uint64_t sent_bytes() const = 0;
  /// Returns the bytes that were sent again after a broken connection, not counted in sent_bytes().
  virtual std::uint64_t repeated_bytes() const { return 0; }
  /// Returns the total time that this process did not run though it had something to do: it was
  /// stopped, or its machine slept. As far as that can be known, a standstill under way included.
  virtual Time stood_still() const { return Time{0}; }
  /// Returns the memory of outgoing payloads; null for ordinary memory.
  virtual std::shared_ptr<BufferMemory> memory() const { return nullptr; }
  /// Returns whether runs of a fleet repeat exactly. The world then draws, from the seed, what real
  /// threads leave to chance.
  virtual bool repeats() const { return false; }
};

/// The user of a link layer: the peer (peer.h documents these functions).
class LinkUser {
 public:
  virtual ~LinkUser() = default;
  virtual bool deliver(Message message) = 0;
  virtual void heard_round(PeerId from, Round round) = 0;
  /// Its arithmetic is at work, or has done something since the previous heartbeat.
  virtual void heard_work(PeerId from) = 0;
  virtual void away(PeerId from) = 0;
  virtual void died(PeerId from) = 0;
  virtual void back(PeerId from) = 0;
  virtual void replaced(PeerId from) = 0;
  virtual void refused(PeerId from) = 0;
  virtual Round clock() const = 0;
  virtual Round done() const = 0;
  virtual Time finishing_since() const = 0;
};

}  // namespace gv
