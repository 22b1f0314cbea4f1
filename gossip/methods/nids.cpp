#include <fmt/format.h>

#include "gossip/objections.h"
#include "gossip/registry.h"

// NIDS. Li, Shi & Yan, "A decentralized proximal-gradient method with network independent
// step-sizes and separated convergence rates", IEEE TSP 67(17), 2019, arXiv:1704.07807, Algorithm 1
// without a proximal term and with one rate for all: x_1 = x_0 - gamma g_0, x_{t+1} = W~ (2 x_t -
// x_{t-1} - gamma (g_t - g_{t-1})), W~ = I - c (I - W), where c is the paper's c times gamma. The
// rates at which it converges do not depend on the graph (Theorem 1): any below 2 / L if W~ is
// positive semidefinite, as with c = 1 / 2. After the first step it is D2 on W~ and has its memory,
// the sum s of all flows, c (W - I) v: v_t = x_t - gamma g_t + s_t, x_{t+1} = W~ v_t; lateness,
// absence and death are as in d2.cpp. Memory of a peer: deg + 1 vectors. Per round and peer: deg
// messages out, 4 d deg bytes.

namespace gv {
namespace {

constexpr Option nids_options[] = {
    {.name = "c",
     .usual = 0.5,
     .least = 0.001,
     .most = 1,
     .help = "weight of the averaging, W~ = I - c (I - W): the paper's c times the learning rate"}};

double nids_step(const Setup& setup) {
  return setup.settings.find("c")->second;
}

Task<> nids(Peer& me) {
  const Vector s = me.vector("sum of flows");
  double& begun = me.replica.scalar("begun");
  if (begun == 0) {
    co_await me.plain_step();  // x_1 = x_0 - gamma g_0
    begun = 1;
  }
  for (; me.running(); co_await me.end_round()) {
    co_await me.plain_step();
    co_await me.axpby(1, s, 1, Vector::x);  // v = x - gamma g + s
    co_await me.average();                  // x = W~ v, s += (W~ - I) v
  }
}

Traffic nids_traffic(const Setup& setup) {
  return {.streams = {{.moves = {"x", "sum of flows"}, .returns = "sum of flows"}},
          .codec = setup.codec,
          .step = nids_step(setup)};
}

/// Requires the same as D2: the least eigenvalue of W~ has to be above -1/3.
std::string nids_objection(const Setup& setup, const MixingMatrix* w) {
  if (std::string why = objection_to_many_steps(setup, "nids"); !why.empty()) return why;
  if (std::string why = objection_to_remembered_flows(setup, "nids"); !why.empty()) return why;
  const std::optional<double> least = diverging_eigenvalue(w, nids_step(setup));
  if (!least) return "";
  return fmt::format(
      "nids diverges when the least eigenvalue of I - c (I - W) is -1/3 or less, and here it is "
      "{:.4g}: take `c: 0.5`",
      *least);
}

}  // namespace

extern const AlgorithmRow nids_row{
    .kind = "nids",
    .run = nids,
    .mixes = true,
    .traffic = nids_traffic,
    .codecs = Codecs::dense,
    .options = nids_options,
    .objection = nids_objection,
    .program = whole_steps,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary = "D2 on I - c (I - W): rates that do not depend on the graph; arXiv:1704.07807"};

}  // namespace gv
