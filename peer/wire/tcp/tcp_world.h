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
#include "gossip/seam/plan.h"
#include "gossip/seam/world.h"
#include "optim/machine/page_lock.h"
#include "peer/fleet/specs.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/lend/region.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/tls_context.h"
#include "peer/wire/tcp/lent_thread.h"

namespace gv {

struct TcpOptions {
  LinkSettings links;
  wire::FrameBounds bounds;  ///< limits of neighbours' messages
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;  ///< port to listen at; 0: any free one
  int compute_threads = 1;
  /// Thread for the jobs of the home lane; null for one of the world's own.
  std::shared_ptr<Arithmetic> home{};
  /// Returns whether arithmetic of `flops` runs on the loop, because it is shorter than the way to
  /// another thread and back, and does not block. If unset, no arithmetic does.
  std::function<bool(double flops)> runs_inline;
  std::shared_ptr<BufferMemory> memory;  ///< memory for received payloads; null for ordinary memory
  /// Locks shared memory for the device that owns `memory`. If null, nothing is locked, and
  /// payloads in `memory` are not lent.
  std::shared_ptr<PageLock> page_lock{};
  /// Maximum time of one job of ours; then on_stuck is called, on the loop. 0: no limit.
  Time stuck_after{0};
  std::function<void()> on_stuck;
  /// Network to emulate for all output of this peer, if any.
  std::optional<NetworkSpec> emulate;
  std::uint64_t emulation_seed = 1;
  /// Size of the memory shared with neighbours on this machine; if not set, all payloads are sent.
  std::optional<RegionShape> share;
  std::function<void(PeerId neighbor, bool shares)> on_share;  ///< on the loop; may be empty
  /// Receives events of the link with a neighbour that has not said goodbye; on the loop; may be
  /// empty.
  std::function<void(LinkEvent event, PeerId neighbor)> on_link{};
  SecurityMode security = SecurityMode::automatic;
  std::shared_ptr<const TlsContext> keys{};  ///< may also be set by use_keys()
  /// Token that plain connections within this machine must prove to know; see use_token().
  std::shared_ptr<const RunToken> token{};
  std::function<void(const std::string&)> log;  ///< receives one line, without newline
};

struct PeerAddress {
  PeerId peer = 0;
  std::string host;
  std::uint16_t port = 0;
  bool reversed = false;            ///< the end with the greater id dials
  std::vector<std::string> more{};  ///< further hosts of this peer, tried after the first
};

/// The arithmetic threw (if a device was lost, for example): training cannot continue.
struct ComputeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A neighbour belongs to another fleet, or trains another model.
struct PeersDisagree : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// World over TCP: Asio coroutines, one persistent connection per edge, gather writes, pooled
/// receive buffers, one arithmetic thread for each lane in use. Wall clock. Carries a LinkLayer,
/// which keeps conversations alive when connections end.
class TcpWorld : public World {
 public:
  static std::unique_ptr<TcpWorld> make(TcpOptions options);

  /// Binds and listens. Returns the port. Throws std::runtime_error if the address is taken.
  virtual std::uint16_t listen() = 0;
  /// Sets the keys that prove our identity; before run().
  virtual void use_keys(std::shared_ptr<const TlsContext> keys) = 0;
  /// Sets the token that neighbours on this machine must know; before run().
  virtual void use_token(std::shared_ptr<const RunToken> token) = 0;
  /// Runs the loop: connects to the neighbours, then calls `begin` on the loop. Returns after
  /// end_loop() once no peer is owed anything. Throws std::runtime_error naming peers that could
  /// not be reached, or those to which nothing may be sent without keys, if there are none;
  /// PeersDisagree naming a neighbour that rejected us or that we rejected, and why; ComputeError
  /// if a job threw; and any exception of `begin` or a callback.
  virtual void run(const std::vector<PeerAddress>& addresses,
                   LinkUser& user,
                   std::function<void()> begin) = 0;
  /// Leaves run() once the neighbours have everything that we sent, or the wait for them has ended
  /// (LinkLayer::end); called from the loop.
  virtual void end_loop() = 0;
  /// Leaves run() at once, without notice to the neighbours; called from the loop.
  virtual void abandon() = 0;
  /// Leaves run() at once if `begin` has not been called, otherwise does nothing; called from the
  /// loop.
  virtual void give_up() = 0;
  /// Sets the new address of a restarted neighbour; called from the loop.
  virtual void readdress(const PeerAddress& address) = 0;
  /// Ends the connection with this neighbour, and makes none for `length`; called from the loop.
  virtual void cut(PeerId neighbor, Time length) = 0;
  /// Returns the neighbour's process that we are connected with; called from the loop.
  virtual std::uint64_t incarnation(PeerId neighbor) const = 0;
  /// Returns the descriptors that a child would inherit by a fork, which keep the peer's
  /// connections open; called from the loop, or while it does not run.
  virtual std::vector<int> descriptors() const = 0;
  /// Runs f on the loop; may be called from any thread.
  virtual void post(std::function<void()> f) = 0;
};

/// Returns the version of Asio that this program was built with, such as "1.22.1".
std::string asio_version();

}  // namespace gv
