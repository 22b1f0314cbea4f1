#include "gossip/registry.h"
#include "gossip/steps/steps.h"

// DeepSqueeze. Tang, Lian, Qiu, Yuan, Zhang, Zhang & Liu, "DeepSqueeze: decentralization meets
// error-compensated compression", 2019, arXiv:1907.07346, Algorithm 1: v = x_t - gamma g_t + e_t,
// C(v) travels, e_{t+1} = v - C(v), x_{t+1} = x_t - gamma g_t + eta sum_j (W_ij - I_ij) C(v_j).
// Memory of a peer: 2 vectors. Per round and peer: deg messages out, of C(d) bytes.

namespace gv {
namespace {

constexpr Option deep_squeeze_options[] = {
    {.name = "eta",
     .usual = step_by_codec,
     .least = 0,
     .most = 1,
     .help = "consensus step size, eta; 0: chosen by the codec"}};

Task<> deep_squeeze(Peer& me) {
  const Vector v = me.vector("compensated");
  const Vector sent = me.vector("sent");
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
    co_await me.axpby(1, Vector::x, 1, v);  // v holds e_t: v = x_{t+1/2} + e_t
    co_await me.average();                  // x += eta sum_j W_ij (C(v_j) - C(v_i))
    co_await me.axpby(-1, sent, 1, v);      // e_{t+1}
  }
}

Traffic deep_squeeze_traffic(const Setup& setup) {
  return {.streams = {{.carries = "compensated", .moves = {"x"}, .sent = "sent"}},
          .codec = setup.codec,
          .step = consensus_step(setup, "eta")};
}

}  // namespace

extern const AlgorithmRow deep_squeeze_row{
    .kind = "deep-squeeze",
    .run = deep_squeeze,
    .mixes = true,
    .traffic = deep_squeeze_traffic,
    .codecs = Codecs::all,
    .options = deep_squeeze_options,
    .program = whole_steps,
    .promise = Promise::mean,
    .by_coordinate = true,
    .summary =
        "D-PSGD that sends compressed models, and makes up for what they lost; "
        "arXiv:1907.07346"};

}  // namespace gv
