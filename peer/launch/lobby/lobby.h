#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

inline constexpr std::string_view no_answer_yet = "it has not answered yet";

/// A machine that has joined, as the lobby sees it.
struct LobbyMember {
  MachineOffer offer;
  std::string address{};       ///< numeric, as the lobby saw it last
  bool here = false;           ///< its connection is alive
  double seconds_away = 0;     ///< since it was lost; 0 while it is here
  std::string data_problem{};  ///< why it could not prepare its part of the data, or ""
};

struct LobbyOptions {
  JoinCode code;
  /// 128 random bits by which a machine that has joined comes back: no guess at the short code
  /// helps those who wait at the lobby's address for machines that come back.
  std::string again;
  std::string name{};      ///< the lobby's own, which no machine that joins gets
  std::uint16_t port = 0;  ///< 0: any free one
  std::string socket;      ///< path of the Unix socket at which launchers ask for agents
  std::function<void(const std::string&)> say;  ///< a line for the user; from another thread
};

/// Lets machines in that know the code, and connects launchers on this machine with agents there
/// (lobby_argv). Works in a thread of its own. A machine keeps its name when it comes back.
/// Strangers cost at most 16 connections of 15 seconds each, and the attempts of JoinAttempts.
class Lobby {
 public:
  /// Throws std::runtime_error if the port or the socket's path is taken.
  explicit Lobby(LobbyOptions options);
  ~Lobby();  ///< notifies the machines that the lobby closes
  Lobby(const Lobby&) = delete;
  Lobby& operator=(const Lobby&) = delete;

  std::uint16_t port() const;
  std::vector<LobbyMember> members() const;  ///< in the order of their names
  /// Sends a line for the users of all machines if `member` is "", else a part_order().
  /// Until the machine has obeyed that, its `data_problem` is no_answer_yet.
  void send(const std::string& member, const Json& message);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gv
