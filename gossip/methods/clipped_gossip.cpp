#include "gossip/registry.h"

// ClippedGossip. He, Karimireddy & Jaggi, "Byzantine-robust decentralized learning via
// ClippedGossip", 2022, arXiv:2202.01545, Algorithm 1: x_{t+1/2} = x_t - eta g_t, x_{t+1} =
// sum_j W_ij (x_i + clip(x_j - x_i, tau)), clip(v, tau) = v min(1, tau / ||v||): whatever a
// neighbour sends, it moves us by no more than W_ij tau. Deviation: tau is the same for all, so
// that both ends of an edge of honest peers apply opposite flows. Per round and peer: deg messages
// out, 4 d deg bytes, each vector as one piece.

namespace gv {
namespace {

constexpr Option clipped_gossip_options[] = {
    {.name = "tau",
     .usual = 0.1,
     .least = 1e-9,
     .most = 1e9,
     .help = "maximum difference to a neighbour's model that counts in "
             "full, tau; about the length of a step"}};

Task<> clipped_gossip(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();  // x_{t+1/2}
    co_await me.average();     // average of clipped differences
  }
}

Traffic clipped_gossip_traffic(const Setup& setup) {
  return {.clip = setup.settings.find("tau")->second};
}

}  // namespace

extern const AlgorithmRow clipped_gossip_row{
    .kind = "clipped-gossip",
    .run = clipped_gossip,
    .mixes = true,
    .traffic = clipped_gossip_traffic,
    .options = clipped_gossip_options,
    .program = whole_steps,
    .promise = Promise::mean,
    .summary =
        "D-PSGD in which no neighbour moves a peer far: against attackers; arXiv:2202.01545"};

}  // namespace gv
