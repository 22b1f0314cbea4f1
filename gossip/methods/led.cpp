#include "gossip/objections.h"
#include "gossip/registry.h"

// Local exact diffusion. Alghunaim, "Local exact-diffusion for decentralized optimization and
// learning", IEEE TAC 2024, arXiv:2302.00620, LED: tau = train.local_steps steps phi <- phi - gamma
// g(phi) - beta y from x, then x = W phi and y <- y + phi - x. The paper takes beta = 1 / tau, so
// that y acts once in a round. -y is the sum s of all flows of averaging, as in d2.cpp; with one
// step LED is D2. Lateness, absence and death are handled as there. Memory of a peer: deg + 1
// vectors. Per round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

constexpr Option led_options[] = {
    {.name = "beta",
     .usual = 1,
     .least = 0,
     .most = 1,
     .help = "fraction of the correction applied per round: the paper's beta times tau"}};

Task<> led(Peer& me) {
  const Vector s = me.vector("sum of flows");
  const std::uint32_t steps = me.plan.local_steps;
  const auto part = static_cast<float>(me.number("beta") / steps);
  for (; me.running(); co_await me.end_round()) {
    for (std::uint32_t k = 0; k < steps; ++k) {
      co_await me.plain_step();
      co_await me.axpby(part, s, 1, Vector::x);
    }
    co_await me.average();  // x = W phi, s += (W - I) phi
  }
}

Traffic led_traffic(const Setup& setup) {
  return {.streams = {{.moves = {"x", "sum of flows"}, .returns = "sum of flows"}},
          .codec = setup.codec};
}

/// Without gradients LED is D2, whatever tau: lambda_n has to be above -1/3.
std::string led_objection(const Setup& setup, const MixingMatrix* w) {
  std::string why = objection_to_remembered_flows(setup, "led", instead_of_local_steps);
  if (!why.empty()) return why;
  return objection_to_lambda_n("led", w, {.beside = ", or `k-gt`"});
}

}  // namespace

extern const AlgorithmRow led_row{
    .kind = "led",
    .run = led,
    .mixes = true,
    .traffic = led_traffic,
    .codecs = Codecs::dense,
    .options = led_options,
    .objection = led_objection,
    .program = whole_steps,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary = "D2 with local steps: no bias of unlike data; arXiv:2302.00620"};

}  // namespace gv
