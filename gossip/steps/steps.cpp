#include "gossip/steps/steps.h"

#include <algorithm>

namespace gv {

double usual_consensus_step(const std::optional<Codec>& codec) {
  constexpr double most = 0.3;
  if (!codec || !codec->keeps_some()) return most;
  const double arriving = codec->kind == Codec::Kind::random_k ? 1 : 2;
  return std::min(most, arriving * codec->fraction);
}

double consensus_step(const Setup& setup, std::string_view option) {
  const double asked = setup.settings.find(option)->second;
  return asked == step_by_codec ? usual_consensus_step(setup.codec) : asked;
}

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

Task<> outer_step(Peer& me, Vector delta, Vector u) {
  const auto lr = static_cast<float>(me.number("outer_lr"));
  const auto mu = static_cast<float>(me.number("outer_momentum"));
  co_await me.axpby(1, delta, mu, u);
  co_await me.axpby(-lr, delta, 1, Vector::x);
  co_await me.axpby(-lr * mu, u, 1, Vector::x);
}

}  // namespace gv
