#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gossip/link/carrier.h"
#include "gossip/link/link_settings.h"
#include "gossip/plan.h"
#include "gossip/world.h"
#include "optim/page_lock.h"
#include "peer/fleet/specs.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/lend/region.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/tls_context.h"
#include "peer/wire/tcp/lent_thread.h"

namespace gv {

struct TcpOptions {
  LinkSettings links;
  wire::FrameBounds bounds;  ///< of what neighbours may send
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;  ///< 0: any free one
  int compute_threads = 1;
  /// Does the jobs of the home lane; null: a thread of the world's own.
  std::shared_ptr<Arithmetic> home{};
  /// Returns whether arithmetic of so many flops may run on the loop: it is too short for the way
  /// to another thread and back, and does not block. Empty: none may.
  std::function<bool(double flops)> runs_inline;
  std::shared_ptr<BufferMemory> memory;  ///< of received payloads; null: the ordinary one
  /// Locks shared memory for the device to which `memory` belongs; null: nothing does, and what
  /// lies in `memory` is not lent.
  std::shared_ptr<PageLock> page_lock{};
  /// The longest that one job of ours may take; then on_stuck is called, on the loop. 0: never.
  Time stuck_after{0};
  std::function<void()> on_stuck;
  /// All that this peer sends passes through this network; none: only through the real one.
  std::optional<NetworkSpec> emulate;
  std::uint64_t emulation_seed = 1;
  /// The size of the memory shared with neighbours on this machine; none: all payloads are sent.
  std::optional<RegionShape> share;
  std::function<void(PeerId neighbor, bool shares)> on_share;  ///< on the loop; may be empty
  /// Hears what happens to the link with a neighbour that has not said goodbye; on the loop; may be
  /// empty.
  std::function<void(LinkEvent event, PeerId neighbor)> on_link{};
  SecurityMode security = SecurityMode::automatic;
  std::shared_ptr<const TlsContext> keys{};  ///< null: none, or use_keys() gives them
  /// The token that plain connections within this machine must prove to know; null: none, or
  /// use_token() gives it.
  std::shared_ptr<const RunToken> token{};
  std::function<void(const std::string&)> log;  ///< one line, no newline
};

struct PeerAddress {
  PeerId peer = 0;
  std::string host;
  std::uint16_t port = 0;
  bool reversed = false;            ///< of the two ends, the one of the greater id dials
  std::vector<std::string> more{};  ///< further hosts that are this peer's, tried after the first
};

/// The arithmetic threw (a device was lost, say): training cannot go on.
struct ComputeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A neighbour is of another fleet, or trains another model.
struct PeersDisagree : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// World over TCP: Asio coroutines, one persistent connection per edge, gather writes, pooled
/// receive buffers, one arithmetic thread for each lane that is used. Wall clock. It carries a
/// LinkLayer, which keeps the conversations alive whatever becomes of their connections.
class TcpWorld : public World {
 public:
  static std::unique_ptr<TcpWorld> make(TcpOptions options);

  /// Binds and listens; returns the port. Throws std::runtime_error when the address is taken.
  virtual std::uint16_t listen() = 0;
  /// Takes what we prove ourselves with; before run().
  virtual void use_keys(std::shared_ptr<const TlsContext> keys) = 0;
  /// Takes what a neighbour on this machine must know; before run().
  virtual void use_token(std::shared_ptr<const RunToken> token) = 0;
  /// Runs the loop: connects to the neighbours, then calls `begin` on the loop; returns when, after
  /// end_loop(), nothing is owed to anybody. Throws std::runtime_error naming the peers that could
  /// not be reached, and those to whom nothing may go without keys, of which there are none;
  /// PeersDisagree naming one that refused us or that we refused, and why; ComputeError when a job
  /// threw; and whatever `begin` or a callback throws.
  virtual void run(const std::vector<PeerAddress>& addresses,
                   LinkUser& user,
                   std::function<void()> begin) = 0;
  /// Leaves run() when the neighbours have all that we sent, or are waited for no longer
  /// (LinkLayer::end); called from the loop.
  virtual void end_loop() = 0;
  /// Leaves run() at once, without a word to anybody; called from the loop.
  virtual void abandon() = 0;
  /// Leaves run() at once if `begin` is still to come, else does nothing; called from the loop.
  virtual void give_up() = 0;
  /// Takes where a neighbour that was restarted is to be found now; called from the loop.
  virtual void readdress(const PeerAddress& address) = 0;
  /// Ends the connection with this neighbour, and makes none for so long; called from the loop.
  virtual void cut(PeerId neighbor, Time length) = 0;
  /// Returns which process of this neighbour we are talking with now; called from the loop.
  virtual std::uint64_t incarnation(PeerId neighbor) const = 0;
  /// Returns the descriptors that a child of this process would hold after a fork, and with them
  /// the peer's connections; called from the loop, or while it does not run.
  virtual std::vector<int> descriptors() const = 0;
  /// Runs f on the loop; may be called from any thread.
  virtual void post(std::function<void()> f) = 0;
};

/// Returns the version of the Asio that we are built with, such as "1.22.1".
std::string asio_version();

}  // namespace gv
