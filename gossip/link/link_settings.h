#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "gossip/link/frames.h"
#include "gossip/link/link_rules.h"
#include "gossip/world.h"

namespace gv {

/// The times for which the link layer waits, each for something else.
struct LinkTimes {
  Time heartbeat{std::chrono::milliseconds(500)};       ///< between two signs of life on a link
  Time dead_after{std::chrono::seconds(5)};             ///< of silence: the neighbour is away
  Time reconnect_within{std::chrono::seconds(1)};       ///< of a broken link: it is away
  Time first_redial{std::chrono::milliseconds(20)};     ///< the first pause between two dials
  Time slowest_redial{std::chrono::milliseconds(500)};  ///< the longest
  Time handshake{std::chrono::seconds(3)};              ///< from a dial to the answer
  /// The time from a stranger's coming to its first byte. Over a real network it follows at once.
  Time first_byte{std::chrono::seconds(3)};
  /// A refusal may be a stranger's, who sits at the neighbour's address for a moment: it ends the
  /// start only when nothing else was heard from there for so long.
  Time refused_for{std::chrono::seconds(1)};
  Time join_within{std::chrono::milliseconds(1500)};  ///< a restarted peer, for slow neighbours
  Time connect{std::chrono::seconds(30)};             ///< from the start to all links
  Time patience{std::chrono::seconds(3)};   ///< at the end, for a neighbour that is away and lives
  Time farewell{std::chrono::seconds(30)};  ///< at the end, for everybody
};

struct LinkSettings {
  const LinkRules* rules = &documented_link_rules();
  Hello self;  ///< who we are; another fleet or model is refused
  std::vector<PeerId>
      neighbors;  ///< ascending; those of greater id are dialled, the others dial us
  /// The exceptions, between whose machines there is a road only the other way round.
  std::set<PeerId> reversed{};
  bool dials(PeerId neighbor) const {
    return (neighbor > self.peer) != reversed.contains(neighbor);
  }
  LinkTimes times;
  /// A process that takes the place of a neighbour that died is let in.
  bool successors = false;
  /// We take such a place: training begins with those neighbours that are there.
  bool rejoin = false;
  Round rounds = std::numeric_limits<Round>::max();  ///< rounds of the run: no clock is beyond
  Round slack = 0;  ///< so many rounds apart, clocks are in any fleet
  /// Payload sent to one neighbour and not acknowledged by it; with more it is away, and not sent
  /// to.
  std::uint64_t most_unacknowledged_bytes = std::numeric_limits<std::uint64_t>::max();
  std::size_t most_strangers = 32;   ///< connections that have not said who they are
  std::size_t strangers_of_one = 8;  ///< of these from one address; loopback is exempt
};

}  // namespace gv
