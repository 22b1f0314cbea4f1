#include "gossip/tracking.h"

namespace gv {

Traffic tracking_traffic(const Setup& setup) {
  return {.streams = {{.carries = "x"}, {.carries = "y", .returns = "y"}}, .codec = setup.codec};
}

Task<> begin_tracking(Peer& me, Tracked of) {
  double& begun = me.replica.scalar("begun");
  if (begun != 0) co_return;
  co_await me.gradient();
  co_await me.copy(Vector::g, of.y);
  co_await me.copy(Vector::g, of.u);
  begun = 1;
}

Task<> track_gradient(Peer& me, Tracked of, float a, float b) {
  co_await me.gradient();
  co_await me.axpby(a, Vector::g, 1, of.y);
  co_await me.axpby(b - 1, of.u, 1, of.y);
  co_await me.axpby(a, Vector::g, b, of.u);
}

}  // namespace gv
