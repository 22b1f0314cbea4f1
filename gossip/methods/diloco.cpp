#include "gossip/registry.h"
#include "gossip/steps/steps.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"

// DiLoCo. Douillard et al., "DiLoCo: distributed low-communication training of language models",
// 2023, arXiv:2311.08105, Algorithm 1: H = train.local_steps steps of the inner optimizer
// (train.optimizer; the paper's AdamW, H = 500), then one step of SGD with Nesterov momentum, in
// PyTorch's form, on the mean of the peers' moves. Inner moments stay each peer's own. With
// outer_lr 1 and outer_momentum 0 it is local SGD. Per round and peer: 2 (n - 1) messages out, 8 d
// (n - 1) / n bytes.

namespace gv {
namespace {

constexpr Option diloco_options[] = {outer_lr_option(0.7), outer_momentum_option};

Task<> diloco(Peer& me) {
  const Group all = everyone(me);
  const Vector theta = me.vector("theta");  // the model that all began the round with
  const Vector delta = me.vector("outer gradient");
  const Vector u = me.vector("outer momentum");
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, theta);
    co_await me.local_steps();
    co_await me.plain_step();
    co_await me.copy(theta, delta);
    co_await me.axpby(-1, Vector::x, 1, delta);  // theta - theta_i
    const bool done = co_await all_average(me, all, delta, Way::ring, me.codec());
    if (!done) co_return;
    co_await me.copy(theta, Vector::x);
    co_await outer_step(me, delta, u);
  }
}

}  // namespace

extern const AlgorithmRow diloco_row{
    .kind = "diloco",
    .run = diloco,
    .codecs = Codecs::dense,
    .links = ring_links,
    .channels = ring_channels,
    .options = diloco_options,
    .clips_sums = true,
    .program = whole_steps,
    .promise = Promise::agreement,
    .by_coordinate = true,
    .summary = "train.local_steps steps alone, then an outer Nesterov step; arXiv:2311.08105"};

}  // namespace gv
