#include "gossip/registry.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"

// Local SGD. Stich, "Local SGD converges fast and communicates little", ICLR 2019,
// arXiv:1805.09767, Algorithm 1: H = train.local_steps steps of each peer alone, then the exact
// mean of the models, along a ring. Momentum and moments stay each peer's own. Per round and peer:
// 2 (n - 1) messages out, 8 d (n - 1) / n bytes.

namespace gv {
namespace {

Task<> local_sgd(Peer& me) {
  const Group all = everyone(me);
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
    const bool done = co_await average_models(me, all, Way::ring);
    if (!done) co_return;
  }
}

}  // namespace

extern const AlgorithmRow local_sgd_row{
    .kind = "local-sgd",
    .run = local_sgd,
    .links = ring_links,
    .channels = ring_channels,
    .clips_sums = true,
    .program = whole_steps,
    .promise = Promise::agreement,
    .by_coordinate = true,
    .summary = "train.local_steps steps alone, then the mean of all models; arXiv:1805.09767"};

}  // namespace gv
