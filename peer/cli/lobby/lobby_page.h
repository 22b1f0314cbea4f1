#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer/launch/lobby/lobby.h"

namespace gv::cli {

/// Page of a lobby for all people on its network: the machines with their contributions, and the
/// run if there is one. It changes nothing, and its address has a token.
class LobbyPage {
 public:
  /// Serves at all addresses of this machine. Throws std::runtime_error if no port is free. `own`:
  /// this machine, if it trains.
  LobbyPage(const Lobby& lobby, unsigned number, std::vector<LobbyMember> own);
  ~LobbyPage();
  LobbyPage(const LobbyPage&) = delete;
  LobbyPage& operator=(const LobbyPage&) = delete;

  /// Shows the run in this folder from now on.
  void show_run(const std::string& folder);
  /// Returns the page's address at one of this machine's addresses.
  std::string url() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the newest round of a run with its loss and accuracy, as a line.
std::string progress_text(const std::string& folder);
/// Returns a machine's row: name, cores, memory, speed, devices.
std::string machine_text(const LobbyMember& member);

}  // namespace gv::cli
