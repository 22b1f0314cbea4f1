#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/launch/manual/address_pattern.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/tcp_peer.h"

namespace gv {

/// Settings that a launcher gives a peer.
struct LaunchedPeer {
  std::string folder;                 ///< for its checkpoints, ledger and record
  std::string address = "127.0.0.1";  ///< address to listen at
  std::uint16_t port = 0;             ///< 0: any free one
};

/// Runs a peer that a launcher started. Addresses come on stdin, messages go to stdout (control.h;
/// vectors: launcher_line.h), the log goes to stderr. Ends when the peer has finished, when the
/// launcher stops it, or when stdin ends. Returns the exit code.
int run_launched_peer(const Assembly& fleet,
                      PeerId id,
                      const LaunchedPeer& launched,
                      const PeerPast& past,
                      const PeerParts& parts);

/// Callbacks for the progress of a peer started by hand.
struct ManualPeerScreen {
  std::function<void(const Report&)> on_report;
  std::function<void(const std::string&)> log;
};

/// Settings by which a peer started by hand finds the others.
struct ManualPeer {
  Time connect_deadline{std::chrono::seconds(120)};
  /// Receives the port at which this peer listens and returns the neighbours' addresses; `moved`
  /// later returns those that have changed. If empty, the fleet file's host addresses are used.
  std::function<std::vector<PeerAddress>(std::uint16_t port)> meet{};
  std::function<std::vector<PeerAddress>()> moved{};
  std::shared_ptr<const TlsContext> keys{};  ///< null if it has none
  /// Addresses of all peers, if not from the fleet file, and the address to listen at.
  std::vector<PeerAddress> addresses{};
  std::string listen_address{};
};

/// Runs a peer started by hand. Listens at its host's address in the fleet file, at the host's port
/// plus its place among that host's peers, dials the others there, and waits until the deadline.
/// The first stop signal ends it after the round, the second at once. Returns the exit code.
int run_manual_peer(const Assembly& fleet,
                    PeerId id,
                    const ManualPeer& manual,
                    const PeerPast& past,
                    const PeerParts& parts,
                    const ManualPeerScreen& screen);

}  // namespace gv
