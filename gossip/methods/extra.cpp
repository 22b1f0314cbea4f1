#include "gossip/objections.h"
#include "gossip/registry.h"

// EXTRA. Shi, Ling, Wu & Yin, "EXTRA: an exact first-order algorithm for decentralized consensus
// optimization", SIAM J. Optim. 25(2), 2015, arXiv:1404.6264, Algorithm 1 with W~ = (I + W) / 2:
// x_1 = W x_0 - gamma g_0, x_{t+1} = (I + W) x_t - W~ x_{t-1} - gamma (g_t - g_{t-1}). Summed up it
// is x_{t+1} = W x_t - gamma g_t + s_t / 2 (their equation 2.17), where s_t = sum_{r < t} (W - I)
// x_r are all flows of averaging before this round. The gradient is taken at the x_t that travels,
// so exchange and gradient run at the same time. A late flow counts in the round in which it comes.
// Past flows over an edge do not count in s while its other end is away, and are taken out if that
// peer dies, as in d2.cpp. Memory of a peer: deg + 1 vectors. Per round and peer: deg messages out,
// 4 d deg bytes.

namespace gv {
namespace {

Task<> extra(Peer& me) {
  const Vector s = me.vector("sum of flows");
  for (; me.running(); co_await me.end_round()) {
    co_await me.share();                       // x_t travels ...
    co_await me.plain_step();                  // ... while g_t is computed there: x_t - gamma g_t
    co_await me.axpby(0.5F, s, 1, Vector::x);  // + s_t / 2
    co_await me.mix();                         // + (W - I) x_t, s_{t+1} = s_t + (W - I) x_t
  }
}

Traffic extra_traffic(const Setup& setup) {
  return {.streams = {{.moves = {"x", "sum of flows"}, .returns = "sum of flows"}},
          .codec = setup.codec};
}

std::string extra_objection(const Setup& setup, const MixingMatrix*) {
  if (std::string why = objection_to_many_steps(setup, "extra"); !why.empty()) return why;
  return objection_to_remembered_flows(setup, "extra");
}

}  // namespace

extern const AlgorithmRow extra_row{
    .kind = "extra",
    .run = extra,
    .mixes = true,
    .traffic = extra_traffic,
    .codecs = Codecs::dense,
    .objection = extra_objection,
    .program = whole_steps,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary = "D-PSGD with half of all past flows: no bias of unlike data; arXiv:1404.6264"};

}  // namespace gv
