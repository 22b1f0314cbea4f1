#include <algorithm>

#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/seam/task.h"
#include "gossip/steps/steps.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"

// Streaming DiLoCo. Douillard et al., "Streaming DiLoCo with overlapping communication: towards a
// distributed free lunch", 2025, arXiv:2501.18512, Algorithm 2: the model is cut into P fragments,
// and one at a time is summed while all peers continue with their inner steps. In each round one
// fragment p begins its turn, Delta_p = theta_p - mean_i x_{i,p}; `delay` tau inner steps later the
// mean is there, theta_p takes DiLoCo's outer Nesterov step from its value at the end of its last
// turn, and x_p <- alpha x_p + (1 - alpha) theta_p. A round is train.local_steps inner steps, so
// that H, the steps between two turns of a fragment, is P times as many, and 1 / P of the model
// travels at once.
// Deviations: fragments are equal consecutive parts of the model, and not its blocks, every P-th;
// tau is at most train.local_steps, as a turn ends in the round in which it began: no round ends
// with a sum under way, because no checkpoint could hold it. Nothing is summed in the first round,
// before anything has moved. With P = 1, tau = 0 and alpha = 0 it is DiLoCo, whose outer step then
// opens the next round. Memory of a peer: 3 vectors.
// Eager updates: Kale, Douillard & Donchev, "Eager updates for overlapped communication and
// computation in DiLoCo", 2025, arXiv:2502.12996, Algorithm 3: no peer waits for the sum of a turn
// before the next one. Peer i takes its outer step at once, along its own newest part and the
// others' parts of their last turn, (Delta_i + sum_{j != i} last Delta_j) / n, with its own theta_i
// and momentum, and x_i <- theta_i. Each Delta_j counts once at every peer, a turn later at the
// others, so that the differences of theta do not add up. In its first turn a fragment has no
// parts of the others. Deviation: the sum has one round's steps instead of P rounds', for the
// reason above. With P = 1 it is the paper's. Memory of a peer: 4 vectors.
// Per round and peer, both: 2 (n - 1) messages out, 8 (d / P) (n - 1) / n bytes.

namespace gv {
namespace {

constexpr Option fragments_option{
    .name = "fragments",
    .usual = 4,
    .least = 1,
    .most = 1000,
    .whole = true,
    .help = "number of fragments of the model, sent one after the other, P"};

constexpr Option streaming_diloco_options[] = {
    fragments_option,
    {.name = "delay",
     .usual = 1,
     .least = 0,
     .most = 1e6,
     .whole = true,
     .help = "number of inner steps during which a fragment is summed, tau"},
    {.name = "alpha",
     .usual = 0.5,
     .least = 0,
     .most = 1,
     .help = "weight of the peer's own fragment when it takes the new one, alpha"},
    outer_lr_option(0.7),
    outer_momentum_option};

constexpr Option eager_options[] = {fragments_option, outer_lr_option(0.4), outer_momentum_option};

/// Returns the fragment whose turn begins; the longer ones come first. Empty if none.
Range fragment(const Peer& me) {
  if (me.round == 0) return {};
  const auto parts = static_cast<std::size_t>(me.number("fragments"));
  const std::size_t p = (me.round - 1) % parts;
  const std::size_t base = me.replica.size() / parts;
  const std::size_t longer = me.replica.size() % parts;
  return {p * base + std::min(p, longer), base + (p < longer ? 1 : 0)};
}

struct StreamState {
  Vector theta;  ///< value of each fragment at the end of its last turn; in streaming equal at all
                 ///< peers
  Vector delta;
  Vector u;  ///< outer momentum
  float lr, mu, share;

  explicit StreamState(Peer& me)
      : theta(me.vector("theta")),
        delta(me.vector("outer gradient")),
        u(me.vector("outer momentum")),
        lr(static_cast<float>(me.number("outer_lr"))),
        mu(static_cast<float>(me.number("outer_momentum"))),
        share(1.0F / static_cast<float>(everyone(me).size())) {}
};

Task<> subtract(Peer& me, StreamState s, Range r) {
  co_await me.compute(3.0 * static_cast<double>(r.count), [&] {
    me.replica.axpby(1, s.theta, 0, s.delta, r);
    me.replica.axpby(-1, Vector::x, 1, s.delta, r);  // theta - x_i
  });
}

Task<> sum_up(Peer& me, Vector delta, Range r, bool& done) {
  const Sum sum{.codec = me.codec(), .part = r};
  done = co_await all_reduce(me, everyone(me), delta, Way::ring, sum);
}

/// u = mu u + Delta, theta <- theta - lr (Delta + mu u), of Delta the mean of a sum.
void step_outer(Replica& replica, const StreamState& s, Vector sum, Range r) {
  replica.axpby(s.share, sum, s.mu, s.u, r);
  replica.axpby(-s.lr * s.share, sum, 1, s.theta, r);
  replica.axpby(-s.lr * s.mu, s.u, 1, s.theta, r);
}

/// The outer step; x then moves part of the way to theta.
Task<> outer_step(Peer& me, StreamState s, Range r) {
  const auto alpha = static_cast<float>(me.number("alpha"));
  co_await me.compute(10.0 * static_cast<double>(r.count), [&] {
    step_outer(me.replica, s, s.delta, r);
    me.replica.axpby(1 - alpha, s.theta, alpha, Vector::x, r);
  });
}

Task<> streaming_diloco(Peer& me) {
  const StreamState s(me);
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

/// The outer step along this peer's part of the sum that begins and the others' parts of the last
/// one. `others` keeps only the values to be added to the coming sum.
Task<> eager_step(Peer& me, StreamState s, Vector others, Range r) {
  co_await me.compute(16.0 * static_cast<double>(r.count), [&] {
    me.replica.axpby(1, s.delta, 1, others, r);
    step_outer(me.replica, s, others, r);
    me.replica.axpby(1, s.theta, 0, Vector::x, r);
    me.replica.axpby(-1, s.delta, 0, others, r);
  });
}

Task<> eager_diloco(Peer& me) {
  const StreamState s(me);
  const Vector others = me.vector("outer gradient of the others");
  if (me.round == 0) co_await me.copy(Vector::x, s.theta);
  for (; me.running(); co_await me.end_round()) {
    const Range r = fragment(me);
    if (r.count == 0) {
      co_await me.local_steps();
      co_await me.plain_step();
      continue;
    }
    bool done = false;
    co_await subtract(me, s, r);
    co_await eager_step(me, s, others, r);
    Beside sum(me.world, sum_up(me, s.delta, r, done));
    for (std::uint32_t k = 0; k < me.plan.local_steps; ++k) co_await me.plain_step();
    co_await sum.join();
    if (!done) co_return;
    co_await me.compute(3.0 * static_cast<double>(r.count),
                        [&] { me.replica.axpby(1, s.delta, 1, others, r); });
  }
}

std::string eager_objection(const Setup& setup, const MixingMatrix*) {
  return objection_to_waits(setup, "eager-diloco");
}

std::string streaming_diloco_objection(const Setup& setup, const MixingMatrix*) {
  std::string why = objection_to_delay(setup, "streaming-diloco");
  return why.empty() ? objection_to_waits(setup, "streaming-diloco") : why;
}

}  // namespace

extern const AlgorithmRow streaming_diloco_row{
    .kind = "streaming-diloco",
    .run = streaming_diloco,
    .codecs = Codecs::dense,
    .links = ring_links,
    .channels = ring_channels,
    .options = streaming_diloco_options,
    .objection = streaming_diloco_objection,
    .program = whole_steps,
    .promise = Promise::agreement,
    .summary = "DiLoCo in fragments, each summed while training continues; arXiv:2501.18512"};

extern const AlgorithmRow eager_diloco_row{
    .kind = "eager-diloco",
    .run = eager_diloco,
    .codecs = Codecs::dense,
    .links = ring_links,
    .channels = ring_channels,
    .options = eager_options,
    .objection = eager_objection,
    .program = whole_steps,
    .promise = Promise::agreement,
    .summary =
        "DiLoCo whose outer step takes a peer's own part at once and the others' a turn later; "
        "arXiv:2502.12996"};

}  // namespace gv
