#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peer/runtime/assembly.h"
#include "peer/runtime/ledger.h"
#include "peer/tcp/tcp_world.h"

namespace gv {

/// What a peer's surroundings give it.
struct TcpPeerOptions {
  std::string listen_address = "127.0.0.1";
  std::uint16_t listen_port = 0;  ///< 0: any free one
  Time connect_deadline{std::chrono::seconds(30)};
  bool rejoin = false;                    ///< take the place of a process that died
  std::string ledger_folder;              ///< where the book is kept; empty: none is
  std::function<void()> on_ready;         ///< all links are up; on the loop
  std::function<void(Step)> on_progress;  ///< rounds completed, four times a second
  std::function<void(Report)> on_report;
  std::function<void(const std::string&)> log;
};

/// One peer of a fleet over TCP: its replica, its world and the life of its algorithm.
class TcpPeer {
 public:
  TcpPeer(const Assembly& fleet, PeerId id, TcpPeerOptions options);
  ~TcpPeer();

  /// Binds; returns the port. Throws std::runtime_error when it is taken.
  std::uint16_t listen();
  /// Trains until the end; throws std::runtime_error as TcpWorld::run does.
  void run(const std::vector<PeerAddress>& addresses);
  /// From any thread: leave after the current round; or at once while links are missing.
  void stop();
  /// From any thread: where a neighbour that was restarted is to be found now.
  void readdress(const PeerAddress& address);
  /// From any thread: runs f(rounds completed) on the loop.
  void ask(std::function<void(Step)> f);

 private:
  void tell_progress();

  const Assembly& fleet_;
  std::function<void()> on_ready_;
  std::function<void(Step)> on_progress_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<LedgerFile> ledger_;
  std::unique_ptr<TcpWorld> world_;
  std::unique_ptr<Peer> peer_;
  Task<> life_;
};

}  // namespace gv
