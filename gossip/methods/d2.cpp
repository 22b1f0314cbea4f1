#include "gossip/objections.h"
#include "gossip/registry.h"

// D2. Tang, Lian, Yan, Zhang & Liu, "D2: decentralized training over decentralized data", ICML
// 2018, arXiv:1803.07068, Algorithm 1: x_{t+1} = W (2 x_t - x_{t-1} - gamma (g_t - g_{t-1})); on (I
// + W) / 2 it is exact diffusion (Yuan, Ying, Zhao & Sayed, IEEE TSP 2019, arXiv:1702.05122). Its
// memory is written as c_t = x_t - x_{t-1} + gamma g_{t-1}, the sum of all past flows of averaging:
// c_0 = 0, v_t = x_t - gamma g_t + c_t, x_{t+1} = W v_t, c_{t+1} = c_t + (W - I) v_t. A late flow
// counts in the round in which it comes, so nothing is lost. Past flows over an edge do not count
// in c while its other end is away, and are taken out if that peer dies. Otherwise c would move a
// lone peer at a constant velocity, and the survivors away from their optimum. Memory of a peer:
// deg + 1 vectors. Per round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

Task<> d2(Peer& me) {
  const Vector c = me.vector("sum of flows");
  for (; me.running(); co_await me.end_round()) {
    co_await me.plain_step();
    co_await me.axpby(1, c, 1, Vector::x);  // v = x - gamma g + c
    co_await me.average();                  // x = W v, c += (W - I) v
  }
}

Traffic d2_traffic(const Setup& setup) {
  return {.streams = {{.moves = {"x", "sum of flows"}, .returns = "sum of flows"}},
          .codec = setup.codec};
}

/// Tang et al., Assumption 1: lambda_n > -1/3. There, gradients of x_t and x_{t-1} of opposite sign
/// at the ends of the graph excite each other.
std::string d2_objection(const Setup& setup, const MixingMatrix* w) {
  if (std::string why = objection_to_many_steps(setup, "d2"); !why.empty()) return why;
  if (std::string why = objection_to_remembered_flows(setup, "d2"); !why.empty()) return why;
  return objection_to_lambda_n("d2", w, {.beside = " (exact diffusion)"});
}

}  // namespace

extern const AlgorithmRow d2_row{
    .kind = "d2",
    .run = d2,
    .mixes = true,
    .traffic = d2_traffic,
    .codecs = Codecs::dense,
    .objection = d2_objection,
    .program = whole_steps,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary = "D-PSGD corrected by all past flows: no bias of unlike data; arXiv:1803.07068"};

}  // namespace gv
