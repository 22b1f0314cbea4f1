#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/steps/steps.h"

// Gradient tracking: DSGT, Pu & Nedic, "Distributed stochastic gradient tracking methods", Math.
// Program. 187, 2021, arXiv:1805.11454, Algorithm 1: x_{t+1} = W (x_t - gamma y_t), y_{t+1} = W y_t
// + g_{t+1} - g_t, y_0 = g_0. DIGing (Nedic, Olshevsky & Shi, SIAM J. Optim. 27(4), 2017,
// arXiv:1607.03218) has x_{t+1} = W x_t - gamma y_t instead.
// Aug-DGM: Xu, Zhu, Soh & Xie, "Augmented distributed gradient methods for multi-agent optimization
// under uncoordinated constant stepsizes", IEEE CDC 2015, and ATC-DIGing, Nedic, Olshevsky, Shi &
// Uribe, "Geometrically convergent distributed optimization with uncoordinated step-sizes", ACC
// 2017, arXiv:1609.05877: the new gradients are averaged as well, y_{t+1} = W (y_t + g_{t+1} -
// g_t), so that each peer's change reaches its neighbours a round earlier. A mode of W is stable
// while gamma h < (1 + lambda)^2 / (2 lambda^2): with no eigenvalue below 0 the mean alone
// determines the stable rates. y can travel only when the gradient at the new x is there: this
// takes the time of one more exchange, and no more bytes.
// Momentum Tracking: Takezawa, Bao, Niwa, Sato & Yamada, "Momentum tracking: momentum acceleration
// for decentralized deep learning on heterogeneous data", TMLR 2023, arXiv:2209.15505, Algorithm 1:
// u_{t+1} = beta u_t + g_t, x_{t+1} = W (x_t - gamma (u_{t+1} - c_t)), c_{t+1} = W (c_t - u_{t+1})
// + u_{t+1}, from c_0 = 0. With y = u - c it is DSGT with u instead of g.
// The mean of y is the mean of the gradients or momenta, whatever is late. Past flows over an edge
// do not count in y while its other end is away, so that a lone peer steps along its own gradient;
// they are taken out if that peer dies.
// Memory of a peer: deg + 2 vectors. Per round and peer: deg messages out, 8 d deg bytes.

namespace gv {
namespace {

constexpr Option momentum_options[] = {
    {.name = "beta", .usual = 0.9, .least = 0, .most = 0.999999, .help = "momentum, beta"}};

Task<> track(Peer& me, float beta) {
  const Tracked of{me.vector("y"), me.vector("gradient before")};
  co_await begin_tracking(me, of);
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(of.y, Vector::g);
    co_await me.step_local();  // x - gamma y
    co_await me.average();     // W (x - gamma y), W y
    co_await track_gradient(me, of, 1, beta);
  }
}

Task<> gradient_tracking(Peer& me) {
  return track(me, 0);
}

Task<> momentum_tracking(Peer& me) {
  return track(me, static_cast<float>(me.number("beta")));
}

Task<> aug_dgm(Peer& me) {
  const Tracked of{me.vector("y"), me.vector("gradient before")};
  co_await begin_tracking(me, of);
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(of.y, Vector::g);
    co_await me.step_local();  // x - gamma y
    co_await me.average(0);    // x_{t+1} = W (x - gamma y)
    co_await track_gradient(me, of, 1, 0);
    co_await me.average(1);  // y_{t+1} = W (y + g_{t+1} - g_t)
  }
}

std::string gradient_tracking_objection(const Setup& setup, const MixingMatrix*) {
  return objection_to_many_steps(setup, "gradient-tracking");
}

/// On a changing graph, a peer that is out of step answers at the beginning of its next round, and
/// then has half an answer: peers would wait for the other halves in a circle.
std::string aug_dgm_objection(const Setup& setup, const MixingMatrix*) {
  if (setup.scheduled)
    return "aug-dgm waits for the same neighbours twice in a round, and this topology has others "
           "in every round: take a fixed topology, such as `ring`, or `gradient-tracking`";
  return objection_to_many_steps(setup, "aug-dgm");
}

std::string momentum_objection(const Setup& setup, const MixingMatrix*) {
  std::string why = objection_to_second_momentum(setup, "momentum-tracking", "beta");
  return why.empty() ? objection_to_many_steps(setup, "momentum-tracking") : why;
}

/// Adds what all three have in common.
constexpr AlgorithmRow tracking(AlgorithmRow row) {
  row.mixes = true;
  row.traffic = tracking_traffic;
  row.codecs = Codecs::dense;
  row.program = changed_gradients;
  row.promise = Promise::tracking;
  return row;
}

}  // namespace

extern const AlgorithmRow gradient_tracking_row = tracking(
    {.kind = "gradient-tracking",
     .run = gradient_tracking,
     .objection = gradient_tracking_objection,
     .by_coordinate = true,
     .summary =
         "steps along an average of all gradients that is passed on: no bias of unlike data; "
         "arXiv:1805.11454"});

// A chain that ends within a round would leave half an exchange unsent: not by coordinate.
extern const AlgorithmRow aug_dgm_row = tracking(
    {.kind = "aug-dgm",
     .run = aug_dgm,
     .objection = aug_dgm_objection,
     .summary = "gradient tracking that averages the new gradients, too, in an exchange of their "
                "own; arXiv:1609.05877"});

extern const AlgorithmRow momentum_tracking_row = tracking(
    {.kind = "momentum-tracking",
     .run = momentum_tracking,
     .options = momentum_options,
     .objection = momentum_objection,
     .by_coordinate = true,
     .summary = "gradient tracking of momenta: none of the bias of unlike data; arXiv:2209.15505"});

}  // namespace gv
