#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/file/source.h"
#include "peer/fleet/fleet.h"
#include "peer/launch/lobby/lobby.h"

namespace gv::cli {

/// A machine of a fleet that a lobby starts.
struct LobbySeat {
  std::string machine;  ///< name in the lobby, or "localhost"
  unsigned cores = 1;
  bool cuda = false;
  PeerId peers = 0;
  std::string address{};  ///< for a machine that joined on the lobby's own machine; else found
  std::string data{};     ///< folder there with its own part of the data, or ""
  std::vector<double> speeds{};  ///< speeds of its peers, relative to the slowest; if measured
};

/// Divides `peers` peers among the machines: alike, the remainder to those with the most cores, the
/// first machine first. With fewer peers than machines, those with the fewest cores get none.
void share_peers(std::vector<LobbySeat>& seats, PeerId peers);

/// Returns the seats of the machines, the lobby's own first if it trains, with their peers.
/// `keys`: of the file; with `train.device`, no seat offers its GPU.
std::vector<LobbySeat> lobby_seats(const Fleet& fleet,
                                   const FlatKeys& keys,
                                   const std::vector<LobbyMember>& members,
                                   bool trains_here);

/// Returns the --set values by which a fleet runs on these machines: `hosts`, and `peers` with the
/// threads, devices and speeds of each. `places`: position k is for peer places[k], counted in the
/// order of the seats; if empty, that order is kept.
std::vector<std::string> seat_sets(const std::vector<LobbySeat>& seats,
                                   const std::vector<PeerId>& places = {});

/// Returns why the fleet cannot run on these members, or "": hosts of its own, code that a member
/// does not allow, or parts of the data of which a member lacks one or has one for several peers,
/// or whose columns differ. `seats`: after share_peers; empty if not known yet.
std::string seat_objection(const Fleet& fleet,
                           const std::vector<LobbyMember>& members,
                           const std::vector<LobbySeat>& seats = {});

/// Returns why the keys of a file cannot be kept in a lobby, or "": groups of `peers` with keys
/// that the lobby's machines replace.
std::string groups_objection(const FlatKeys& keys);

/// Returns whether the data are sent with the fleet: at most most_pushed_bytes, unless the file
/// sets `launch.data`. A machine's own part stays there, and the test set is sent to all.
bool sends_data(const std::string& file, const std::vector<std::string>& sets);

/// Choices of a lobby before a start.
struct LobbyStart {
  std::vector<std::string> sets;  ///< for `run`
  std::string text;               ///< one paragraph for the user
};

/// Measures speeds and links of the machines by `bench` and predicts the fleet by `plan`. Chooses
/// places on the graph by the links if `may_place`, and minibatches by speed if they gain a tenth.
/// `program`: our own.
LobbyStart measured_start(const std::string& program,
                          const std::string& file,
                          const std::vector<std::string>& sets,
                          std::vector<LobbySeat> seats,
                          bool may_place,
                          const std::function<void(const std::string&)>& say);

}  // namespace gv::cli
