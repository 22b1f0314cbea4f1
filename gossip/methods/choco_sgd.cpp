#include "gossip/registry.h"
#include "gossip/steps/steps.h"

// CHOCO-SGD. Koloskova, Stich & Jaggi, "Decentralized stochastic optimization and gossip algorithms
// with compressed communication", ICML 2019, arXiv:1902.00340, Algorithm 2: x_{t+1/2} = x_t - eta
// g_t, q_i = Q(x_{t+1/2} - x^_i) travels, x^_i += q_i, x_{t+1} = x_{t+1/2} + gamma sum_j w_ij (x^_j
// - x^_i). Deviation: x^ is kept for each edge, so that a late neighbour does not move the mean.
// Memory of a peer: 2 deg + 1 vectors. Per round and peer: deg messages out, of Q(d) bytes.

namespace gv {
namespace {

constexpr Option choco_sgd_options[] = {consensus_gamma};

Task<> choco_sgd(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();  // x_{t+1/2}
    co_await me.average();     // by what both ends know of each other
  }
}

Traffic choco_sgd_traffic(const Setup& setup) {
  return {.codec = setup.codec, .running = true, .step = consensus_step(setup, "gamma")};
}

}  // namespace

extern const AlgorithmRow choco_sgd_row{
    .kind = "choco-sgd",
    .run = choco_sgd,
    .mixes = true,
    .traffic = choco_sgd_traffic,
    .codecs = Codecs::all,
    .options = choco_sgd_options,
    .program = whole_steps,
    .promise = Promise::mean,
    .by_coordinate = true,
    .summary =
        "D-PSGD that sends compressed differences, and what was left out later; "
        "arXiv:1902.00340"};

}  // namespace gv
