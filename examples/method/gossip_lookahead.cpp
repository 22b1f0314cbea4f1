#include <gossip/plugin.h>

// Lookahead over gossip. Zhang, Lucas, Hinton & Ba, "Lookahead optimizer: k steps forward, 1 step
// back", NeurIPS 2019, arXiv:1907.08610, Algorithm 1, with D-PSGD's models as fast weights. After
// every k rounds each peer's slow weights phi move the part alpha of the way to its model, which
// starts again from phi. This is linear in x and moves the mean as it moves each peer, so it needs
// no messages.

namespace {

using namespace gv;

constexpr Option options[] = {
    {.name = "alpha",
     .usual = 0.5,
     .least = 0,
     .most = 1,
     .help = "the part of the way that the slow weights go, alpha"},
    {.name = "k", .usual = 5, .least = 1, .most = 1e6, .whole = true, .help = "rounds between"}};

Task<> gossip_lookahead(Peer& me) {
  const Vector phi = me.vector("slow weights");
  const auto alpha = static_cast<float>(me.number("alpha"));
  const auto k = static_cast<Round>(me.number("k"));
  if (me.round == 0) co_await me.copy(Vector::x, phi);
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
    co_await me.average();
    if ((me.round + 1) % k != 0) continue;
    co_await me.axpby(alpha, Vector::x, 1 - alpha, phi);
    co_await me.copy(phi, Vector::x);
  }
}

const AlgorithmRow row{
    .kind = "gossip-lookahead",
    .run = gossip_lookahead,
    .mixes = true,
    .options = options,
    .summary = "D-PSGD whose models go back a part of the way; arXiv:1907.08610"};

}  // namespace

GRAPEVINE_PLUGIN(&row)
