#include <fmt/format.h>

#include "gossip/objections.h"
#include "gossip/registry.h"
#include "optim/rng.h"

// ProxSkip over a graph, decentralized Scaffnew. Mishchenko, Malinovsky, Stich & Richtarik,
// "ProxSkip: yes! Local gradient steps provably lead to communication acceleration! Finally!", ICML
// 2022, arXiv:2202.09357; as Guo, Alghunaim, Yuan, Condat & Cao, "Revisiting decentralized
// ProxSkip: achieving linear speedup", 2023, arXiv:2310.07983, write it: z_t = x_t - gamma g_t -
// y_t in each step; with probability p x_{t+1} = W_a z_t and y_{t+1} = y_t + p (z_t - x_{t+1}),
// else x_{t+1} = z_t; W_a = I - c (I - W), c = 1 / (2 chi). The coin falls alike on all peers, by
// the fleet's seed and the round. A round is the steps from one exchange to the next: 1 / p =
// train.local_steps on average. -y is p times the sum s of all flows of averaging, so that it is
// LED with drawn numbers of steps; lateness, absence and death are as in d2.cpp. Memory of a peer:
// deg + 1 vectors. Per round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

constexpr Option proxskip_options[] = {
    {.name = "c",
     .usual = 0.5,
     .least = 0.001,
     .most = 1,
     .help = "weight of the averaging, the paper's 1 / (2 chi)"}};

double proxskip_step(const Setup& setup) {
  return setup.settings.find("c")->second;
}

/// Returns the number of throws until the coin demands an exchange, at most 100 / p.
std::uint64_t throws(const Setup& setup, Round round) {
  const std::uint64_t most = std::uint64_t{100} * setup.local_steps;
  Rng coin = Rng(setup.seed).derive("proxskip").derive(round);
  std::uint64_t count = 1;
  while (count < most && coin.uniform() * setup.local_steps >= 1) ++count;
  return count;
}

Task<> proxskip(Peer& me) {
  const Vector s = me.vector("sum of flows");
  const float p = 1 / static_cast<float>(me.plan.setup->local_steps);
  for (; me.running(); co_await me.end_round()) {
    const std::uint64_t steps = throws(*me.plan.setup, me.clock());
    for (std::uint64_t t = 0; t < steps; ++t) {
      co_await me.plain_step();
      co_await me.axpby(p, s, 1, Vector::x);  // z
    }
    co_await me.average();  // x = W_a z, s += (W_a - I) z
  }
}

Traffic proxskip_traffic(const Setup& setup) {
  return {.streams = {{.moves = {"x", "sum of flows"}, .returns = "sum of flows"}},
          .codec = setup.codec,
          .step = proxskip_step(setup)};
}

std::string proxskip_objection(const Setup& setup, const MixingMatrix* w) {
  std::string why = objection_to_remembered_flows(setup, "proxskip", instead_of_local_steps);
  if (!why.empty()) return why;
  if (!setup.own_steps.empty())
    return "proxskip draws how many steps all peers take in a round: give a number of "
           "train.local_steps, or take `k-gt`";
  if (setup.actors > 0)
    return "proxskip draws the number of minibatches of a round, and actors act for exactly "
           "train.local_steps minibatches: take `led`, or no `agent.actors`";
  const std::optional<double> least = least_eigenvalue(w, proxskip_step(setup));
  if (!least || *least > -1e-9) return "";
  return fmt::format(
      "proxskip needs a positive semidefinite I - c (I - W), and here its least eigenvalue is "
      "{:.4g}: take `c: 0.5`",
      *least);
}

}  // namespace

extern const AlgorithmRow proxskip_row{
    .kind = "proxskip",
    .run = proxskip,
    .mixes = true,
    .traffic = proxskip_traffic,
    .codecs = Codecs::dense,
    .options = proxskip_options,
    .objection = proxskip_objection,
    .program = whole_steps,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary =
        "a coin decides in each step whether all average: no bias of unlike data; "
        "arXiv:2202.09357"};

}  // namespace gv
