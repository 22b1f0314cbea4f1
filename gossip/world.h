#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gossip/message.h"
#include "optim/models/objective.h"

namespace gv {

/// Since the world began; real or virtual.
using Time = std::chrono::nanoseconds;

/// What a peer says of itself at an evaluation: its own test figures and its vector, for whoever
/// watches the fleet.
struct Report {
  PeerId peer = 0;
  Step step = 0;                 ///< steps completed
  bool last = false;             ///< the peer has stopped; `model` is its final replica
  double train_loss = 0;         ///< mean minibatch loss since the last report
  Evaluation evaluation;         ///< of the local model
  std::uint64_t sent_bytes = 0;  ///< on the wire, since the start
  Time longest_wait{0};          ///< for a neighbour's half, since the start
  Step passed_over = 0;          ///< rounds that it did not take part in, to catch up
  Payload model;                 ///< x
};

/// One piece of an exchange, applied here: x += weight (theirs - ours). The other end applies the
/// opposite, with the same weight.
struct Settlement {
  PeerId with = 0;
  Step exchange = 0;
  std::uint32_t part = 0;
  float weight = 0;
  Payload ours, theirs;
};

/// The two lanes of a peer's arithmetic. In each lane one job runs at a time, in the order of the
/// calls; jobs of different lanes may run at the same time. Whatever writes x runs at home. Only
/// gradients and evaluations of vectors that nobody writes meanwhile run beside, so a synchronous
/// method never leaves home.
enum class Lane : std::uint8_t { home, beside };
inline constexpr std::size_t lanes = 2;

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
  /// Runs `job` in its lane, then `done` on the loop. `flops` is the work, for a virtual clock; 0:
  /// the job takes no virtual time of its own, but it waits for the jobs before it.
  virtual void offload(Lane lane,
                       double flops,
                       std::function<void()> job,
                       std::function<void()> done) = 0;
  virtual void publish(Report report) = 0;
  virtual std::uint64_t sent_bytes() const = 0;
  /// Keeps what training can go on from after round `step`. Called off the loop, by a job.
  virtual void store(Step step, std::vector<std::byte> state) = 0;
  /// For whoever keeps account of the exchanges.
  virtual void settled(const Settlement& settlement) = 0;
  /// One line, without its end, for whoever watches this peer.
  virtual void say(const std::string& line) = 0;
};

}  // namespace gv
