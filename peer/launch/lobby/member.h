#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/fleet/net_address.h"
#include "peer/launch/lobby/join_code.h"
#include "peer/launch/lobby/offer.h"

namespace gv {

struct MemberOptions {
  std::string program;  ///< binary of the agents and peers
  JoinCode code;
  MachineOffer offer;
  /// Returns the addresses of the lobby, the likeliest first. Called before each connection,
  /// because addresses change, on another thread. Returns soon after `stopped` returns true.
  std::function<std::vector<HostPort>(const std::function<bool()>& stopped)> find;
  std::function<void(const std::string&)> say;  ///< a line for the user
};

/// Joins a lobby, and starts agents for it until it closes or a signal comes. Without the lobby,
/// ends all peers and tries for ten minutes to join again. Returns the exit code.
int run_member(const MemberOptions& options);

}  // namespace gv
