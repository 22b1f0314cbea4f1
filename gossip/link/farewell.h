#pragma once

#include "gossip/world.h"

namespace gv {

/// The place where a peer that has said its last words stands with one neighbour.
struct Farewell {
  bool told = false;    ///< the neighbour has acknowledged everything, our goodbye too
  bool heard = false;   ///< its goodbye is here
  bool linked = false;  ///< there is a connection
  bool dead = false;    ///< its process has ended: nobody listens at its address
  bool away = false;
  Time since{0};  ///< away, and we at the end
};

/// Returns whether the peer may end as far as this neighbour is concerned. Its own side is settled;
/// but the neighbour may still lack the half that we sent, and nobody else can give it: so we stay
/// until it has acknowledged everything. It needs nothing from us any more when it has died, or has
/// said goodbye and gone. One that is away and lives gets `patience`; no protocol can do without
/// such a limit (two generals: the last word is never known to have arrived).
inline bool may_leave(const Farewell& it, Time now, Time patience) {
  if (it.told || it.dead || (it.heard && !it.linked)) return true;
  return it.away && now - it.since >= patience;
}

}  // namespace gv
