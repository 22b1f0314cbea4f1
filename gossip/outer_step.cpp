#include "gossip/outer_step.h"

namespace gv {

Task<> outer_step(Peer& me, Vector delta, Vector u) {
  const auto lr = static_cast<float>(me.number("outer_lr"));
  const auto mu = static_cast<float>(me.number("outer_momentum"));
  co_await me.axpby(1, delta, mu, u);
  co_await me.axpby(-lr, delta, 1, Vector::x);
  co_await me.axpby(-lr * mu, u, 1, Vector::x);
}

}  // namespace gv
