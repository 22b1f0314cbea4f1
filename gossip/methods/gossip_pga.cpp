#include "gossip/registry.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"

// Gossip-PGA. Chen, Yuan, Zhang, Pan, Xu & Yin, "Accelerating gossip SGD with periodic global
// averaging", ICML 2021, arXiv:2105.09080, Algorithm 1: D-PSGD (adapt, then combine), and in every
// H-th round (`every`) the exact mean of all models, along a ring, in place of the neighbours'. Per
// round and peer: deg messages out, 4 d deg bytes; every H-th 2 (n - 1) messages, 8 d (n - 1) / n
// bytes. Averaging continues without peers that are away, but the mean of all waits for them: a
// peer that comes back does the rounds until then without the peers that are there already.

namespace gv {
namespace {

constexpr Option gossip_pga_options[] = {
    {.name = "every",
     .usual = 6,
     .least = 1,
     .most = 1e12,
     .whole = true,
     .help = "number of rounds between two global averages, H"}};

Round gossip_pga_period(const Setup& setup) {
  return static_cast<Round>(setup.settings.find("every")->second);
}

/// x <- the mean of all models.
Task<bool> average_all(Peer& me, Group all) {
  const Range whole{0, me.replica.size()};
  const Payload own = co_await me.snapshot(Vector::x, whole);
  const bool done = co_await average_models(me, std::move(all), Way::ring);
  if (!done) co_await me.load(Vector::x, whole, own);
  if (!done) co_return false;
  const Payload mean = co_await me.snapshot(Vector::x, whole);
  if (!all_finite(mean->floats())) co_await take_finite_elements(me, mean, own);
  co_return true;
}

Task<> gossip_pga(Peer& me) {
  const Group all = everyone(me);
  const Round every = gossip_pga_period(*me.plan.setup);
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();  // x_{k+1/2} = x_k - gamma g_k
    if ((me.round + 1) % every != 0) {
      co_await me.average();  // x_{k+1} = sum_j W_ij x_{k+1/2,j}
    } else {
      const bool done = co_await average_all(me, all);
      if (!done) co_return;
    }
  }
}

}  // namespace

extern const AlgorithmRow gossip_pga_row{
    .kind = "gossip-pga",
    .run = gossip_pga,
    .mixes = true,
    .traffic = encoded,
    .codecs = Codecs::dense,
    .links = ring_links,
    .channels = plain_ring_channels,  // the codec is that of the averages with the neighbours
    .options = gossip_pga_options,
    .period = gossip_pga_period,
    .clips_sums = true,
    .program = whole_steps,
    .promise = Promise::agreement,
    .by_coordinate = true,
    .summary = "D-PSGD with the mean of all models every H rounds; arXiv:2105.09080"};

}  // namespace gv
