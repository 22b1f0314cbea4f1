#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/steps/steps.h"

// BEER. Zhao, Li, Li, Richtarik & Chi, "BEER: fast O(1/T) rate for decentralized nonconvex
// optimization with communication compression", NeurIPS 2022, arXiv:2201.13320, Algorithm 1:
// gradient tracking in which only compressed differences travel. H is the common knowledge of X,
// and G that of V: X_{t+1} = X_t + gamma H_t (W - I) - eta V_t, V_{t+1} = V_t + gamma G_t (W - I) +
// g_{t+1} - g_t; then C(X_{t+1} - H_t) travels and is added to H, and C(V_{t+1} - G_t) to G. Values
// that a codec leaves out travel later, and unlike data leave no bias, as in gradient_tracking.cpp.
// Deviations: H and G are kept for each edge, as in choco_sgd.cpp, so that a late neighbour does
// not move the mean; and a round begins with the exchange, so that H_0 = C(X_0) and G_0 = C(V_0),
// while the paper has 0 and its peers take the first step without each other.
// MoTEF. Islamov, Gao & Stich, "Towards faster decentralized stochastic optimization with
// communication compression", 2024, arXiv:2405.20114, Algorithm 1: BEER with M_{t+1} = (1 - lambda)
// M_t + lambda g_{t+1} instead of g, from M_0 = g_0. With lambda = 1 it is BEER.
// Past flows of V over an edge do not count while its other end is away, and are taken out if that
// peer dies. Memory of a peer: 5 deg + 3 vectors. Per round and peer: deg messages out, of 2 C(d)
// bytes.

namespace gv {
namespace {

constexpr Option beer_options[] = {consensus_gamma};
constexpr Option momentum_options[] = {
    consensus_gamma,
    {.name = "lambda",
     .usual = 0.1,
     .least = 0.001,
     .most = 1,
     .help = "weight of the new gradient in the momentum, lambda"}};

/// Tracks u <- b u + a g.
Task<> track_by_differences(Peer& me, float a, float b) {
  const Tracked of{me.vector("v"), me.vector("gradient before")};
  co_await begin_tracking(me, of);
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(of.y, Vector::g);  // V_t, before anything has flowed
    co_await me.average();              // X_t + gamma H_t (W - I), V_t + gamma G_t (W - I)
    co_await me.step_local();           // X_{t+1}
    co_await track_gradient(me, of, a, b);
  }
}

Task<> beer(Peer& me) {
  return track_by_differences(me, 1, 0);
}

Task<> motef(Peer& me) {
  const auto lambda = static_cast<float>(me.number("lambda"));
  return track_by_differences(me, lambda, 1 - lambda);
}

Traffic beer_traffic(const Setup& setup) {
  return {.streams = {{.carries = "x"}, {.carries = "v", .returns = "v"}},
          .codec = setup.codec,
          .running = true,
          .step = consensus_step(setup, "gamma")};
}

std::string beer_objection(const Setup& setup, const MixingMatrix*) {
  return objection_to_many_steps(setup, "beer");
}

std::string momentum_objection(const Setup& setup, const MixingMatrix*) {
  std::string why = objection_to_second_momentum(setup, "motef", "lambda");
  return why.empty() ? objection_to_many_steps(setup, "motef") : why;
}

}  // namespace

extern const AlgorithmRow beer_row{
    .kind = "beer",
    .run = beer,
    .mixes = true,
    .traffic = beer_traffic,
    .codecs = Codecs::all,
    .options = beer_options,
    .objection = beer_objection,
    .program = changed_gradients,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary =
        "gradient tracking that sends compressed differences, and what was left out later; "
        "arXiv:2201.13320"};

extern const AlgorithmRow motef_row{
    .kind = "motef",
    .run = motef,
    .mixes = true,
    .traffic = beer_traffic,
    .codecs = Codecs::all,
    .options = momentum_options,
    .objection = momentum_objection,
    .program = changed_gradients,
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary = "BEER of momenta: noise counts for less; arXiv:2405.20114"};

}  // namespace gv
