#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gossip/peer.h"
#include "gossip/setup.h"

namespace gv {

/// What attackers send in the place of a model. mu is the mean of what their honest neighbours sent
/// last, sigma the standard deviation of that in each coordinate, s the strength.
struct AttackRow {
  std::string_view kind;
  double strength = 1;  ///< s, where the fleet file says nothing
  std::string_view summary;
};

/// In the order of Attack::kind.
std::vector<AttackRow> attacks();

/// Attackers are the last of the peers that train, and know each other.
bool is_attacker(const Setup& setup, PeerId i);
/// What an attacker's exchanges carry, where those of the honest carry `honest`.
Traffic attackers_traffic(Traffic honest);
/// An attacker's whole life: it takes part in all rounds, and lies.
Task<> attack(Peer& me);

}  // namespace gv
