#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/steps/steps.h"

// DecentLaM. Yuan, Chen, Huang, Zhang, Pan, Xu & Yin, "DecentLaM: decentralized momentum SGD for
// large-batch deep training", ICCV 2021, arXiv:2104.11981, Algorithm 2: the momentum is that of the
// model over step and averaging, so that it does not amplify the bias of unlike data, as momentum
// inside D-PSGD does: x_{t+1/2} = x_t - gamma g_t, g~_t = (x_t - sum_j W_ij x_{t+1/2,j}) / gamma,
// m_{t+1} = beta m_t + g~_t, x_{t+1} = x_t - gamma m_{t+1}, which is sum_j W_ij x_{t+1/2,j} - gamma
// beta m_t. So a flow acts 1 / (1 - beta) times in later rounds, which is sound while each later
// round brings the next flow. A flow that is not answered acts once. While a neighbour's half is
// late, the flows c_t = beta c_{t-1} + (sum_j W_ij x_{t+1/2,j} - x_{t+1/2}) / gamma are taken
// out of m, which is then the momentum of the own gradients. If the flows of a round are over other
// edges than in the round before, m restarts from zero: the own gradients alone, which were in
// balance with the flows, would throw the model far off (models diverged by ten powers of ten). If
// W changes with the round, the next flow answers another one, and models diverge at any rate (on
// base graphs of 9 peers with beta 0.5, on most with 0.8), so such graphs are rejected. Memory of a
// peer: 3 vectors. Per round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

constexpr Option decentlam_options[] = {
    {.name = "beta", .usual = 0.9, .least = 0, .most = 0.999999, .help = "momentum, beta"}};

Task<> decentlam(Peer& me) {
  const Vector m = me.vector("momentum");
  const Vector c = me.vector("flows in the momentum");
  const Vector before = me.vector("before");
  const auto beta = static_cast<float>(me.number("beta"));
  InStep in_step(me);
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, before);
    const auto gamma = static_cast<float>(co_await rated_step(me));  // x_{t+1/2}
    if (gamma != 0) co_await me.axpby(-1 / gamma, Vector::x, beta, c);
    co_await me.average();  // sum_j W_ij x_{t+1/2,j}
    const bool kept = in_step.kept();
    if (gamma == 0) continue;  // g~ has no unit
    co_await me.axpby(1 / gamma, Vector::x, 1, c);
    co_await me.axpby(-1, Vector::x, 1, before);        // gamma g~_t
    co_await me.axpby(-gamma * beta, m, 1, Vector::x);  // x_{t+1}
    co_await me.axpby(1 / gamma, before, beta, m);
    if (kept) continue;
    if (me.open_exchanges() > 0)
      co_await me.axpby(1, c, 1, m);
    else
      co_await me.scale(m, 0);
    co_await me.scale(c, 0);
  }
}

std::string decentlam_objection(const Setup& setup, const MixingMatrix*) {
  std::string why = objection_to_second_momentum(setup, "decentlam", "beta");
  if (!why.empty()) return why;
  if (setup.local_steps != 1)
    return "decentlam averages after every step: train.local_steps must be 1";
  if (setup.scheduled)
    return "decentlam keeps momentum of past flows under one fixed W, and this topology has "
           "another one in every round, so that models diverge at any rate: take a fixed topology, "
           "such as "
           "`ring`, or `quasi-global-momentum`";
  return "";
}

}  // namespace

extern const AlgorithmRow decentlam_row{
    .kind = "decentlam",
    .run = decentlam,
    .mixes = true,
    .undirected = true,
    .traffic = encoded,
    .codecs = Codecs::dense,
    .options = decentlam_options,
    .objection = decentlam_objection,
    .program = {.turns = ProgramUse::Turns::gradient_then_step,
                .gradients = ProgramUse::Gradients::kept,
                .rate = true},
    .promise = Promise::mean,
    .by_coordinate = true,
    .summary = "D-PSGD whose momentum does not amplify what unlike data do; arXiv:2104.11981"};

}  // namespace gv
