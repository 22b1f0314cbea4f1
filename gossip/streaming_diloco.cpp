#include <algorithm>

#include "gossip/beside.h"
#include "gossip/collectives.h"
#include "gossip/links.h"
#include "gossip/registry.h"

// Streaming DiLoCo. Douillard et al., "Streaming DiLoCo with overlapping communication: towards a
// distributed free lunch", 2025, arXiv:2501.18512, Algorithm 2: the model is cut into P fragments,
// of which one at a time is summed up while all go on with their inner steps. In each round one
// fragment p begins its turn, Delta_p = theta_p - mean_i x_{i,p}; `delay` tau inner steps later the
// mean is there, theta_p takes DiLoCo's outer Nesterov step from where it was when its last turn
// ended, and x_p <- alpha x_p + (1 - alpha) theta_p. A round is train.local_steps inner steps, so
// that H, the steps between two turns of a fragment, is P times as many, and 1 / P of the model
// travels at once.
// Deviations: fragments are equal consecutive parts of the model, and not its blocks, every P-th;
// tau is at most train.local_steps, as a turn ends in the round in which it began: no round ends
// with a sum under way, which no checkpoint could hold. Nothing is summed in the first round,
// before anything has moved. With P = 1, tau = 0 and alpha = 0 it is DiLoCo, whose outer step then
// opens the next round. Memory of a peer: 3 vectors. Per round and peer: 2 (n - 1) messages out, 8
// (d / P) (n - 1) / n bytes.

namespace gv {
namespace {

constexpr Option options[] = {
    {.name = "fragments",
     .usual = 4,
     .least = 1,
     .most = 1000,
     .whole = true,
     .help = "parts of the model that travel one after the other, P"},
    {.name = "delay",
     .usual = 1,
     .least = 0,
     .most = 1e6,
     .whole = true,
     .help = "inner steps while a fragment is summed up, tau"},
    {.name = "alpha",
     .usual = 0.5,
     .least = 0,
     .most = 1,
     .help = "how much of a peer's own fragment stays in the mean, alpha"},
    {.name = "outer_lr", .usual = 0.7, .least = 0, .most = 1e6, .help = "rate of the outer step"},
    {.name = "outer_momentum",
     .usual = 0.9,
     .least = 0,
     .most = 0.999999,
     .help = "Nesterov momentum of the outer step"}};

/// Returns whose turn begins; of as many equal parts, the longer ones first. Empty: nobody's.
Range fragment(const Peer& me) {
  if (me.round == 0) return {};
  const auto parts = static_cast<std::size_t>(me.number("fragments"));
  const std::size_t p = (me.round - 1) % parts;
  const std::size_t base = me.replica.size() / parts;
  const std::size_t longer = me.replica.size() % parts;
  return {p * base + std::min(p, longer), base + (p < longer ? 1 : 0)};
}

struct State {
  Vector theta;  ///< of each fragment, where its last turn ended: the same at all
  Vector delta;
  Vector u;  ///< outer momentum
};

Task<> subtract(Peer& me, State s, Range r) {
  co_await me.compute(3.0 * static_cast<double>(r.count), [&] {
    me.replica.axpby(1, s.theta, 0, s.delta, r);
    me.replica.axpby(-1, Vector::x, 1, s.delta, r);  // theta - x_i
  });
}

Task<> sum_up(Peer& me, Vector delta, Range r, bool& done) {
  const Sum sum{.codec = me.codec(), .part = r};
  done = co_await all_reduce(me, everyone(me), delta, Way::ring, sum);
}

/// u = mu u + Delta, theta <- theta - lr (Delta + mu u), and x goes a part of the way to it.
Task<> outer_step(Peer& me, State s, Range r) {
  const auto lr = static_cast<float>(me.number("outer_lr"));
  const auto mu = static_cast<float>(me.number("outer_momentum"));
  const auto alpha = static_cast<float>(me.number("alpha"));
  const float share = 1.0F / static_cast<float>(everyone(me).size());
  co_await me.compute(10.0 * static_cast<double>(r.count), [&] {
    me.replica.axpby(share, s.delta, mu, s.u, r);
    me.replica.axpby(-lr * share, s.delta, 1, s.theta, r);
    me.replica.axpby(-lr * mu, s.u, 1, s.theta, r);
    me.replica.axpby(1 - alpha, s.theta, alpha, Vector::x, r);
  });
}

Task<> streaming_diloco(Peer& me) {
  const State s{me.vector("theta"), me.vector("outer gradient"), me.vector("outer momentum")};
  const std::uint32_t steps = me.plan.local_steps;
  const auto delay = std::min(steps, static_cast<std::uint32_t>(me.number("delay")));
  if (me.round == 0) co_await me.copy(Vector::x, s.theta);
  for (; me.running(); co_await me.end_round()) {
    const Range r = fragment(me);
    std::uint32_t taken = 0;
    if (r.count > 0) {
      bool done = false;
      co_await subtract(me, s, r);
      Beside sum(me.world, sum_up(me, s.delta, r, done));
      for (; taken < delay; ++taken) co_await me.plain_step();
      co_await sum.join();
      if (!done) co_return;
      co_await outer_step(me, s, r);
    }
    for (; taken < steps; ++taken) co_await me.plain_step();
  }
}

std::string objection(const Setup& setup, const MixingMatrix*) {
  const double delay = setup.settings.find("delay")->second;
  if (delay > setup.local_steps)
    return "the `delay` of streaming-diloco is in inner steps, and a round has " +
           std::to_string(setup.local_steps) + ": take as many at most, or more train.local_steps";
  if (!setup.own_steps.empty())
    return "streaming-diloco counts its delay in inner steps, which all take alike: give a number "
           "of train.local_steps, or take `diloco`";
  if (setup.actors > 0)
    return "streaming-diloco waits for its neighbours while it learns, and can wait for no memory "
           "meanwhile: take `diloco`, or no `agent.actors`";
  if (setup.data_servers > 0)
    return "streaming-diloco waits for its neighbours while it trains, and can wait for no "
           "minibatches meanwhile: take `diloco`, or no `data.servers`";
  return "";
}

}  // namespace

extern const AlgorithmRow streaming_diloco_row{
    .kind = "streaming-diloco",
    .run = streaming_diloco,
    .codecs = Codecs::dense,
    .links = ring_links,
    .channels = ring_channels,
    .options = options,
    .objection = objection,
    .program = whole_steps,
    .promise = Promise::agreement,
    .summary = "DiLoCo in fragments, each summed up while training goes on; arXiv:2501.18512"};

}  // namespace gv
