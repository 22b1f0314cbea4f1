#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "gossip/link/carrier.h"
#include "gossip/link/session.h"
#include "gossip/seam/world.h"

namespace gv {

/// The state of one neighbour after this peer's goodbye.
struct Farewell {
  bool told = false;    ///< the neighbour has acknowledged everything, our goodbye included
  bool heard = false;   ///< its goodbye is here
  bool linked = false;  ///< there is a connection
  bool dead = false;    ///< its process has ended: nothing listens at its address
  bool away = false;
  Time since{0};  ///< begin of the absence, counted from our goodbye on
};

/// Returns whether the peer may end as far as this neighbour is concerned. Our own side is settled,
/// but the neighbour may still lack the half that we sent, and no other peer has it: so we stay
/// until it has acknowledged everything. A neighbour that has died, or has said goodbye and left,
/// needs nothing more from us. A neighbour that is away and lives gets `patience`; no protocol can
/// do without such a limit (two generals: the last word is never known to have arrived).
inline bool may_leave(const Farewell& it, Time now, Time patience) {
  if (it.told || it.dead || (it.heard && !it.linked)) return true;
  return it.away && now - it.since >= patience;
}

/// Maximum number of unacknowledged messages, however small.
inline constexpr std::size_t most_messages_kept = 65'536;

/// The decisions of a link (link.h). Tests replace one and show that the swarm notices.
class LinkRules {
 public:
  virtual ~LinkRules() = default;

  /// Makes a session, which numbers messages and acknowledges them.
  virtual std::unique_ptr<Session> new_session() const { return std::make_unique<Session>(); }
  /// Returns whether unacknowledged messages go over a new connection again.
  virtual bool sends_again() const { return true; }
  /// Returns whether a frame counts: only one from the present connection.
  virtual bool takes(ConnectionId of, ConnectionId present) const { return of == present; }
  /// Returns whether this process has taken the place of the one that we had met.
  virtual bool succeeds(std::uint64_t met, std::uint64_t now) const {
    return met != 0 && met != now;
  }
  /// Returns whether more than `allowed_bytes` is kept for a neighbour without which the user
  /// continues. The user stops sending to it. If it must send more, because more comes from a
  /// neighbour that acknowledges nothing, the neighbour is given up for good.
  virtual bool gives_up(const Session& session, std::uint64_t allowed_bytes) const {
    return session.unacknowledged_bytes() > allowed_bytes ||
           session.unacknowledged().size() > most_messages_kept;
  }
  virtual bool may_leave(const Farewell& farewell, Time now, Time patience) const {
    return gv::may_leave(farewell, now, patience);
  }
};

/// Returns the rules above unchanged.
const LinkRules& documented_link_rules();

/// Time limits of the link layer.
struct LinkTimes {
  Time heartbeat{std::chrono::milliseconds(500)};    ///< between two signs of life on a link
  Time dead_after{std::chrono::seconds(5)};          ///< silence after which the neighbour is away
  Time reconnect_within{std::chrono::seconds(1)};    ///< broken link: time until it is away
  Time first_redial{std::chrono::milliseconds(20)};  ///< first pause between two dials
  Time slowest_redial{std::chrono::milliseconds(500)};  ///< longest pause
  Time handshake{std::chrono::seconds(3)};              ///< from a dial to the answer
  /// Time from a stranger's connection to its first byte. Over a real network it follows at once.
  Time first_byte{std::chrono::seconds(3)};
  /// A refusal may come from a stranger that uses the neighbour's address for a moment. It ends the
  /// start only after this time without any other answer from there.
  Time refused_for{std::chrono::seconds(1)};
  Time join_within{std::chrono::milliseconds(1500)};  ///< a restarted peer, for slow neighbours
  Time connect{std::chrono::seconds(30)};             ///< from the start to all links
  Time patience{std::chrono::seconds(3)};   ///< at the end, for a neighbour that is away and lives
  Time farewell{std::chrono::seconds(30)};  ///< at the end, for all neighbours
};

struct LinkSettings {
  const LinkRules* rules = &documented_link_rules();
  Hello self;  ///< our Hello; another fleet or model is refused
  std::vector<PeerId>
      neighbors;  ///< ascending; those of greater id are dialled, the others dial us
  /// The exceptions, for machines that can connect only the other way round.
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
  Round slack = 0;                                   ///< rounds by which clocks differ in any fleet
  /// Maximum payload sent to one neighbour and not acknowledged; beyond this it counts as away.
  std::uint64_t most_unacknowledged_bytes = std::numeric_limits<std::uint64_t>::max();
  std::size_t most_strangers = 32;   ///< connections that have not identified themselves
  std::size_t strangers_of_one = 8;  ///< maximum from one address; loopback is exempt
};

}  // namespace gv
