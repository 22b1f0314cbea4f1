#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gossip/peer.h"
#include "peer/network/network_spec.h"
#include "peer/wire/frame.h"

namespace gv {

struct TcpOptions {
  wire::Hello hello;          ///< who we are; neighbours with another fleet or model are refused
  std::vector<PeerId> links;  ///< peers to be connected with (senders and receivers)
  std::uint64_t max_payload_bytes = 0;  ///< 4 d
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;  ///< 0: any free one
  int compute_threads = 1;
  std::shared_ptr<BufferMemory> memory;  ///< of received payloads; null: the ordinary one
  Time connect_deadline{std::chrono::seconds(30)};   ///< all links up by then, or run() fails
  Time farewell_deadline{std::chrono::seconds(30)};  ///< how long end_loop() waits for neighbours
  Time heartbeat{std::chrono::milliseconds(500)};    ///< between two signs of life on a link
  Time dead_after{std::chrono::seconds(5)};          ///< of silence: the neighbour is away
  Time patience{std::chrono::seconds(3)};  ///< of end_loop() for a neighbour that is away and lives
  Time reconnect_within{std::chrono::seconds(1)};  ///< of a broken link: the neighbour is away
  /// For one job of our own arithmetic; then on_stuck is called, on the loop. 0: never.
  Time stuck_after{0};
  std::function<void()> on_stuck;
  /// All that this peer sends passes through this network; none: only through the real one.
  std::optional<NetworkSpec> emulate;
  std::uint64_t emulation_seed = 1;
  /// A process that takes the place of a neighbour that died is let in.
  bool successors = false;
  /// We take such a place: training begins with those neighbours that are there.
  bool rejoin = false;
  std::function<void(const std::string&)> log;  ///< one line, no newline
};

struct PeerAddress {
  PeerId peer = 0;
  std::string host;
  std::uint16_t port = 0;
};

/// The arithmetic threw (a device was lost, say): training cannot go on.
struct ComputeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// World over TCP: Asio coroutines, one persistent connection per edge (the lower id dials, and
/// dials again when it breaks), gather writes, pooled receive buffers, one arithmetic thread
/// for each lane that is used. Wall clock. A session on each edge brings every message over exactly
/// once, whatever becomes of its connections; who is not heard of, or not reached, is away until it
/// is back.
class TcpWorld : public World {
 public:
  static std::unique_ptr<TcpWorld> make(TcpOptions options);

  /// Binds and listens; returns the port. Throws std::runtime_error when the address is taken.
  virtual std::uint16_t listen() = 0;
  /// Runs the loop: connects to all links, then calls `begin` on the loop; returns when end_loop()
  /// has said farewell. Throws std::runtime_error naming the peers that could not be reached or
  /// that refused us, and why; ComputeError when a job threw; and whatever `begin` or a callback
  /// throws.
  virtual void run(const std::vector<PeerAddress>& addresses,
                   Peer& peer,
                   std::function<void()> begin) = 0;
  /// From the loop: flushes the queues, tells and awaits the neighbours' end of stream (bounded),
  /// then leaves run().
  virtual void end_loop() = 0;
  /// From the loop: leaves run() at once, without a word to anybody.
  virtual void abandon() = 0;
  /// From the loop: leaves run() at once if `begin` is still to come; else nothing.
  virtual void give_up() = 0;
  /// From the loop: where a neighbour that was restarted is to be found now.
  virtual void readdress(const PeerAddress& address) = 0;
  /// From the loop: no connection with this neighbour, and none made, for so long.
  virtual void cut(PeerId neighbor, Time length) = 0;
  /// From the loop: which process of this neighbour the present conversation is with.
  virtual std::uint64_t incarnation(PeerId neighbor) const = 0;
  /// From any thread: runs f on the loop.
  virtual void post(std::function<void()> f) = 0;
};

/// Of the Asio that we are built with: "1.22.1".
std::string asio_version();

}  // namespace gv
