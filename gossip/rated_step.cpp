#include "gossip/rated_step.h"

#include "gossip/peer.h"

namespace gv {

Task<double> rated_step(Peer& me) {
  if (me.replica.is_lent()) {
    co_await me.gradient();
    const double gamma = me.replica.rate();
    co_await me.step_local();
    co_return gamma;
  }
  const double gamma = me.replica.rate();
  co_await me.plain_step();
  co_return gamma;
}

}  // namespace gv
