#include <algorithm>
#include <cmath>
#include <span>

#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/steps/steps.h"

// GTAdam. Carnevale, Farina, Notarnicola & Notarstefano, "GTAdam: gradient tracking with adaptive
// momentum for distributed online optimization", IEEE Transactions on Control of Network Systems,
// 2023, arXiv:2009.01745, Algorithm 1, whose s is our y: m_{t+1} = beta1 m_t + (1 - beta1) y_t,
// v_{t+1} = min(beta2 v_t + (1 - beta2) y_t^2, G) in each coordinate, x_{t+1} = W x_t - gamma
// m_{t+1} / sqrt(v_{t+1} + epsilon), y_{t+1} = W y_t + g_{t+1} - g_t, from m_0 = v_0 = 0 and y_0 =
// g_0. The moments are those of the tracked gradient, which goes to zero at the optimum of all,
// whatever each peer's own gradient is: no bias of unlike data, on one W. If W changes it does not
// go to zero, and the moments divide by the rest. Unlike in Adam, no bias correction is applied,
// epsilon is below the root, and G bounds v, so that the divisor of m stays between two constants,
// as the paper's linear convergence requires; gradient_tracking.cpp with `train.optimizer: adam`
// has Adam's own rules and another order. Lateness, absence and death are handled as there; each
// peer keeps its own moments. Memory of a peer: deg + 4 vectors. Per round and peer: deg messages
// out, 8 d deg bytes.

namespace gv {
namespace {

constexpr Option gt_adam_options[] = {
    {.name = "beta1",
     .usual = 0.9,
     .least = 0,
     .most = 0.999999,
     .help = "decay rate of the first moment"},
    {.name = "beta2",
     .usual = 0.999,
     .least = 0,
     .most = 0.999999,
     .help = "decay rate of the second moment"},
    {.name = "epsilon",
     .usual = 1e-8,
     .least = 1e-20,
     .most = 1e6,
     .help = "constant added to the second moment under the root"},
    {.name = "bound",
     .usual = 1e6,
     .least = 1e-20,
     .most = 1e30,
     .help = "upper bound of the second moments, G"}};

struct Adaptation {
  float beta1, beta2, epsilon, bound;

  explicit Adaptation(const Peer& me)
      : beta1(static_cast<float>(me.number("beta1"))),
        beta2(static_cast<float>(me.number("beta2"))),
        epsilon(static_cast<float>(me.number("epsilon"))),
        bound(static_cast<float>(me.number("bound"))) {}

  /// Updates both moments by y, and replaces y by the direction of the step.
  void take(std::span<float> y, std::span<float> m, std::span<float> v) const {
    for (std::size_t k = 0; k < y.size(); ++k) {
      m[k] = beta1 * m[k] + (1 - beta1) * y[k];
      v[k] = std::min(beta2 * v[k] + (1 - beta2) * y[k] * y[k], bound);
      y[k] = m[k] / std::sqrt(v[k] + epsilon);
    }
  }
};

struct AdamState {
  Tracked of;
  Vector m, v;
};

/// g <- the direction of the step. Piece by piece in the processor's own memory, on every device.
Task<> adapt(Peer& me, AdamState s, Adaptation by) {
  for (std::uint32_t part = 0; part < me.pieces(); ++part) {
    const Range r = me.piece(part);
    const std::size_t bytes = r.count * sizeof(float);
    const auto y = me.pool().acquire(bytes);
    const auto m = me.pool().acquire(bytes);
    const auto v = me.pool().acquire(bytes);
    co_await me.compute(16.0 * static_cast<double>(r.count), [&] {
      me.replica.snapshot(s.of.y, r, *y);
      me.replica.snapshot(s.m, r, *m);
      me.replica.snapshot(s.v, r, *v);
      by.take(y->floats(), m->floats(), v->floats());
      me.replica.load(s.m, r, *m);
      me.replica.load(s.v, r, *v);
      me.replica.load(Vector::g, r, *y);
    });
  }
}

Task<> gt_adam(Peer& me) {
  const AdamState s{{me.vector("y"), me.vector("gradient before")},
                    me.vector("first moment"),
                    me.vector("second moment")};
  const Adaptation by(me);
  co_await begin_tracking(me, s.of);
  for (; me.running(); co_await me.end_round()) {
    co_await me.share();  // x and y, which travel while the direction is found
    co_await adapt(me, s, by);
    co_await me.mix();  // W x, W y
    co_await me.step_local();
    co_await track_gradient(me, s.of, 1, 0);
  }
}

std::string gt_adam_objection(const Setup& setup, const MixingMatrix*) {
  std::string wrong = objection_to_second_momentum(setup, "gt-adam", "beta1 and beta2");
  return wrong.empty() ? objection_to_many_steps(setup, "gt-adam") : wrong;
}

}  // namespace

extern const AlgorithmRow gt_adam_row{
    .kind = "gt-adam",
    .run = gt_adam,
    .mixes = true,
    .traffic = tracking_traffic,
    .codecs = Codecs::dense,
    .options = gt_adam_options,
    .objection = gt_adam_objection,
    .program = changed_gradients,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary = "gradient tracking through the moments of Adam; arXiv:2009.01745"};

}  // namespace gv
