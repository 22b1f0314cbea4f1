#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/launch/address_pattern.h"
#include "peer/runtime/assembly.h"
#include "peer/runtime/peer_plan.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// The point from which a peer goes on.
struct PeerPast {
  std::optional<Round> from;  ///< its checkpoint of this round
  bool rejoin = false;        ///< its newest checkpoint, or a neighbour's model
  Time clock{0};              ///< what the fleet's training clock shows as it begins
};

/// The settings that a launcher gives a peer.
struct LaunchedPeer {
  std::string folder;                 ///< takes its checkpoints, its ledger and its record
  std::string address = "127.0.0.1";  ///< at which it listens
  std::uint16_t port = 0;             ///< 0: any free one
};

/// One peer that a launcher started: its addresses come on stdin, what it has to say goes to stdout
/// (control.h; vectors: launcher_line.h), its log to stderr. Ends when it has finished, when it is
/// told to stop, or when stdin ends. Returns the exit code.
int run_launched_peer(const Assembly& fleet,
                      PeerId id,
                      const LaunchedPeer& launched,
                      const PeerPast& past,
                      const PeerParts& parts);

/// The hooks that tell of a peer started by hand on its way.
struct ManualPeerScreen {
  std::function<void(const Report&)> on_report;
  std::function<void(const std::string&)> log;
};

/// The way in which a peer started by hand finds the others.
struct ManualPeer {
  Time connect_deadline{std::chrono::seconds(120)};
  /// Told at which port it listens, it says where the neighbours do, and from then on those that
  /// have moved; empty: at their hosts' addresses of the fleet file.
  std::function<std::vector<PeerAddress>(std::uint16_t port)> meet{};
  std::function<std::vector<PeerAddress>()> moved{};
  std::shared_ptr<const TlsContext> keys{};  ///< null: it has none
  /// The addresses of all peers, by another rule than the fleet file's; and ours on this machine.
  std::vector<PeerAddress> addresses{};
  std::string listen_address{};
};

/// One peer started by hand: listens at its host's address of the fleet file, port + its place
/// among that host's peers, dials the others there, and waits so long for them. The
/// first stop signal ends it after the round, the second at once. Returns the exit code.
int run_manual_peer(const Assembly& fleet,
                    PeerId id,
                    const ManualPeer& manual,
                    const PeerPast& past,
                    const PeerParts& parts,
                    const ManualPeerScreen& screen);

}  // namespace gv
