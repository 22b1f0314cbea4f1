#include <fmt/format.h>

#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/steps/steps.h"

// Global update tracking. Aketi, Hashemi & Roy, "Global Update Tracking: a decentralized learning
// algorithm for heterogeneous data", NeurIPS 2023, arXiv:2305.04792, as in its authors' trainer:
// z_t = W x_t, delta_t = g(z_t) - (z_t - x_t) / gamma, y_t = delta_t + mu ((x_{t-1} - z_t) / gamma
// - delta_{t-1}), x_{t+1} = x_t - gamma y_t. It tracks the moves of the neighbours' models, which
// each peer sees without extra messages, instead of their gradients. Ours is the same, written with
// flows of averaging f_t = z_t - x_t: c_t = mu c_{t-1} + f_t, x_{t+1} = z_t - gamma g(z_t) + mu
// c_t. At a constant rate the numbers are equal. At a changing rate theirs are divided by the
// rate of the round before, and ours by none.
// A late flow acts once: c is cleared if other neighbours are missing, or come back, than in the
// round before. Otherwise a flow acts 1 / (1 - mu) times before the next one answers it, and near a
// peer that is slower than faults.deadline models diverge until they are not finite. At rest the
// models are 1 - mu times as far apart as those of D-PSGD; the mean moves by the mean gradient. A
// mode of W is stable if lambda > -1 / (1 + 2 mu). Their QG-GUTm, with SGD's momentum beta over y,
// is left out: a flow then acts 1 / (1 - beta - mu) times, and models diverge when flows come late.
// Memory of a peer: 1 vector. Per round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

constexpr Option gut_options[] = {
    {.name = "mu",
     .usual = 0.9,
     .least = 0,
     .most = 0.999999,
     .help = "weight of the tracked updates of the neighbours' models, mu"}};

Task<> gut(Peer& me) {
  const Vector c = me.vector("fading flows");
  const auto mu = static_cast<float>(me.number("mu"));
  InStep in_step(me);
  for (; me.running(); co_await me.end_round()) {
    co_await me.scale(c, mu);
    co_await me.average();     // x = z, c += f
    co_await me.plain_step();  // z - gamma g(z)
    if (!in_step.kept()) co_await me.scale(c, 0);
    co_await me.axpby(mu, c, 1, Vector::x);
  }
}

Traffic gut_traffic(const Setup& setup) {
  return {.streams = {{.moves = {"x", "fading flows"}}}, .codec = setup.codec};
}

std::string gut_objection(const Setup& setup, const MixingMatrix* w) {
  if (std::string why = objection_to_clip_norm(setup, "gut"); !why.empty()) return why;
  if (std::string why = objection_to_remembered_flows(setup, "gut"); !why.empty()) return why;
  if (std::string why = objection_to_many_steps(setup, "gut"); !why.empty()) return why;
  const double limit = -1 / (1 + 2 * setup.settings.find("mu")->second);
  return objection_to_lambda_n("gut", w,
                               {limit, fmt::format("{:.4g}", limit), ", or a smaller `mu`"});
}

}  // namespace

extern const AlgorithmRow gut_row{
    .kind = "gut",
    .run = gut,
    .mixes = true,
    .undirected = true,
    .traffic = gut_traffic,
    .codecs = Codecs::dense,
    .options = gut_options,
    .objection = gut_objection,
    .program = whole_steps,
    .promise = Promise::mean,
    .by_coordinate = true,
    .summary =
        "D-PSGD that tracks what its neighbours' models move by: less of the bias of unlike "
        "data, for no byte more; arXiv:2305.04792"};

}  // namespace gv
