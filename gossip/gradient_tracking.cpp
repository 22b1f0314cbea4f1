#include "gossip/registry.h"

// Gradient tracking: DSGT, Pu & Nedic, "Distributed stochastic gradient tracking methods", Math.
// Program. 187, 2021, arXiv:1805.11454, Algorithm 1: x_{t+1} = W (x_t - gamma y_t), y_{t+1} = W y_t
// + g_{t+1} - g_t, y_0 = g_0. DIGing (Nedic, Olshevsky & Shi, SIAM J. Optim. 27(4), 2017,
// arXiv:1607.03218) has x_{t+1} = W x_t - gamma y_t instead. The mean of the y is that of the
// gradients, whatever is late. What flowed over the edge to a peer that is away does not count in y
// until it is back, so that who is alone steps along its own gradient; what flowed over that to one
// that dies is taken out.
// Memory of a peer: deg + 2 vectors. Per round and peer: deg messages out, 8 d deg bytes.

namespace gv {
namespace {

Task<> gradient_tracking(Peer& me) {
  const Vector y = me.vector("y");
  const Vector before = me.vector("gradient before");
  double& begun = me.replica.scalar("begun");
  if (begun == 0) {
    co_await me.gradient();
    co_await me.copy(Vector::g, y);
    co_await me.copy(Vector::g, before);
    begun = 1;
  }
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(y, Vector::g);
    co_await me.step_local();  // x - gamma y
    co_await me.average();     // W (x - gamma y), W y
    co_await me.gradient();    // g_{t+1}
    co_await me.axpby(1, Vector::g, 1, y);
    co_await me.axpby(-1, before, 1, y);  // y + g_{t+1} - g_t
    co_await me.copy(Vector::g, before);
  }
}

Traffic traffic(const Setup& setup) {
  return {.streams = {{.carries = "x"}, {.carries = "y", .returns = "y"}}, .codec = setup.codec};
}

std::string objection(const Setup& setup, const MixingMatrix*) {
  if (setup.local_steps != 1)
    return "gradient-tracking corrects every gradient: train.local_steps must be 1";
  return "";
}

}  // namespace

extern const AlgorithmRow gradient_tracking_row{
    .kind = "gradient-tracking",
    .run = gradient_tracking,
    .mixes = true,
    .traffic = traffic,
    .codecs = Codecs::dense,
    .objection = objection,
    .program = changed_gradients,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary =
        "steps along an average of all gradients that is passed on: no bias of unlike data; "
        "arXiv:1805.11454"};

}  // namespace gv
