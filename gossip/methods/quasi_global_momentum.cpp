#include "gossip/objections.h"
#include "gossip/registry.h"

// Quasi-global momentum. Lin, Karimireddy, Stich & Jaggi, "Quasi-global momentum: accelerating
// decentralized deep learning on heterogeneous data", ICML 2021, arXiv:2102.04761, Algorithm 1
// (QG-DSGDm): the buffer follows the model's move over step and averaging, not the peer's own
// gradients. As in the paper's experiments one mu is both the momentum's and the buffer's. Per
// round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

constexpr Option quasi_global_momentum_options[] = {
    {.name = "mu",
     .usual = 0.9,
     .least = 0,
     .most = 0.999999,
     .help = "momentum, mu (and beta) of the paper"}};

Task<> quasi_global_momentum(Peer& me) {
  const Vector m = me.vector("quasi-global momentum");
  const Vector before = me.vector("before");
  const auto mu = static_cast<float>(me.number("mu"));
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, before);
    co_await me.gradient();
    const auto gamma = static_cast<float>(me.replica.rate());  // a program reports it now
    co_await me.axpby(mu, m, 1, Vector::g);                    // g_t + mu m_{t-1}
    co_await me.step_local();                                  // x_{t+1/2}
    co_await me.average();                                     // x_{t+1} = sum_j W_ij x_{t+1/2,j}
    if (gamma == 0) continue;                                  // d has no unit
    co_await me.axpby(-1, Vector::x, 1, before);
    co_await me.axpby((1 - mu) / gamma, before, mu, m);  // d = (x_t - x_{t+1}) / gamma; m_t
  }
}

std::string quasi_global_momentum_objection(const Setup& setup, const MixingMatrix*) {
  std::string why = objection_to_second_momentum(setup, "quasi-global-momentum", "mu");
  if (!why.empty()) return why;
  if (setup.local_steps != 1)
    return "quasi-global momentum averages after every step: train.local_steps must be 1";
  return "";
}

}  // namespace

extern const AlgorithmRow quasi_global_momentum_row{
    .kind = "quasi-global-momentum",
    .run = quasi_global_momentum,
    .mixes = true,
    .undirected = true,
    .traffic = encoded,
    .codecs = Codecs::dense,
    .options = quasi_global_momentum_options,
    .objection = quasi_global_momentum_objection,
    .program = {.turns = ProgramUse::Turns::gradient_then_step,
                .gradients = ProgramUse::Gradients::written,
                .rate = true},
    .promise = Promise::mean,
    .by_coordinate = true,
    .summary = "D-PSGD whose momentum follows the averaged model; arXiv:2102.04761"};

}  // namespace gv
