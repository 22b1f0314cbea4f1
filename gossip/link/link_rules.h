#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gossip/link/carrier.h"
#include "gossip/link/farewell.h"
#include "gossip/link/session.h"

namespace gv {

/// However small they are.
inline constexpr std::size_t most_messages_kept = 65'536;

/// The decisions of a link (link.h). Tests swap one for a wrong one and show that the swarm
/// notices.
class LinkRules {
 public:
  virtual ~LinkRules() = default;

  /// Makes a session, which numbers messages and acknowledges them.
  virtual std::unique_ptr<Session> new_session() const { return std::make_unique<Session>(); }
  /// Returns whether what was not acknowledged goes over a new connection once more.
  virtual bool sends_again() const { return true; }
  /// Returns whether a frame counts: only one of the present connection.
  virtual bool takes(ConnectionId of, ConnectionId present) const { return of == present; }
  /// Returns whether this process has taken the place of the one that we had met.
  virtual bool succeeds(std::uint64_t met, std::uint64_t now) const {
    return met != 0 && met != now;
  }
  /// Returns whether more is kept for a neighbour without which the user goes on than is `allowed`.
  /// The user stops sending to it; where it has to go on, since more comes of that neighbour, which
  /// acknowledges nothing, the neighbour is given up for good.
  virtual bool gives_up(const Session& session, std::uint64_t allowed_bytes) const {
    return session.unacknowledged_bytes() > allowed_bytes ||
           session.unacknowledged().size() > most_messages_kept;
  }
  virtual bool may_leave(const Farewell& farewell, Time now, Time patience) const {
    return gv::may_leave(farewell, now, patience);
  }
};

/// The rules above as they are.
const LinkRules& documented_link_rules();

}  // namespace gv
