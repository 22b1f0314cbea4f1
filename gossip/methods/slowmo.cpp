#include "gossip/registry.h"
#include "gossip/steps/steps.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"

// SlowMo. Wang, Tantia, Ballas & Rabbat, "SlowMo: improving communication-efficient distributed SGD
// with slow momentum", ICLR 2020, arXiv:1910.00643, Algorithm 1 over local SGD: tau =
// train.local_steps steps of each peer alone, the exact mean of the models, then a step of slow
// momentum. The base optimizer's buffers stay as they are (the paper's "maintain"). With alpha 1
// and beta 0 it is local SGD. Per round and peer: 2 (n - 1) messages out, 8 d (n - 1) / n bytes.

namespace gv {
namespace {

constexpr Option slowmo_options[] = {
    {.name = "alpha", .usual = 1, .least = 0, .most = 1e6, .help = "slow rate, alpha"},
    {.name = "beta", .usual = 0.7, .least = 0, .most = 0.999999, .help = "slow momentum, beta"}};

Task<> slowmo(Peer& me) {
  const Group all = everyone(me);
  const Vector start = me.vector("start");  // x_{t,0}
  const Vector u = me.vector("slow momentum");
  const auto alpha = static_cast<float>(me.number("alpha"));
  const auto beta = static_cast<float>(me.number("beta"));
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, start);
    const auto gamma = static_cast<float>(co_await rated_step(me));  // the first step's rate
    for (std::uint32_t h = 1; h < me.plan.local_steps; ++h) co_await rated_step(me);
    const bool done = co_await average_models(me, all, Way::ring);
    if (!done) co_return;      // x_{t,tau}
    if (gamma == 0) continue;  // no peer has moved, and u has no unit
    co_await me.axpby(-1 / gamma, Vector::x, beta, u);
    co_await me.axpby(1 / gamma, start, 1, u);  // u = beta u + (x_{t,0} - x_{t,tau}) / gamma
    co_await me.copy(start, Vector::x);
    co_await me.axpby(-alpha * gamma, u, 1, Vector::x);  // x_{t,0} - alpha gamma u
  }
}

}  // namespace

extern const AlgorithmRow slowmo_row{
    .kind = "slowmo",
    .run = slowmo,
    .links = ring_links,
    .channels = ring_channels,
    .options = slowmo_options,
    .clips_sums = true,
    .program = {.turns = ProgramUse::Turns::gradient_then_step,
                .gradients = ProgramUse::Gradients::kept,
                .rate = true},
    .promise = Promise::agreement,
    .by_coordinate = true,
    .summary = "local SGD, then a step of slow momentum; arXiv:1910.00643"};

}  // namespace gv
