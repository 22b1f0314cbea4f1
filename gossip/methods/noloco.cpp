#include "gossip/registry.h"

// NoLoCo. Kolehmainen, Blagoev, Donaghy, Ersoy & Nies, "NoLoCo: no-all-reduce low communication
// training method for large models", 2025, arXiv:2506.10911, section 3.1: H = train.local_steps
// steps of the inner optimizer from the slow weights phi, Delta_i = theta_i - phi_i, and a Nesterov
// step whose last term draws the slow weights together, m_i <- alpha m_i + beta mean_j Delta_j -
// gamma (phi_i - mean_j phi_j), phi_i <- phi_i + m_i; the means are over the peer and one drawn
// partner: `topology: random-matching`. Here they are by any W. Both means move m and phi by flows
// w (c_j - c_i) of c = beta Delta + gamma phi, so that this one vector travels and not two, and the
// mean of the phi is kept whatever is late. No peer waits for more than its partner of the round.
// Memory of a peer: 3 vectors. Per round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

constexpr Option noloco_options[] = {
    {.name = "alpha",
     .usual = 0.5,
     .least = 0,
     .most = 0.999999,
     .help = "momentum of the outer step, alpha"},
    {.name = "beta",
     .usual = 0.7,
     .least = 0,
     .most = 1e6,
     .help = "learning rate of the outer step, beta"},
    {.name = "gamma",
     .usual = 0.7,
     .least = 0,
     .most = 4,
     .help = "strength of the pull between slow weights, gamma; the "
             "paper's theory needs alpha < gamma < 2 + alpha"}};

Task<> noloco(Peer& me) {
  const Vector phi = me.vector("slow weights");
  const Vector m = me.vector("outer momentum");
  const Vector c = me.vector("told");
  const auto alpha = static_cast<float>(me.number("alpha"));
  const auto beta = static_cast<float>(me.number("beta"));
  const auto gamma = static_cast<float>(me.number("gamma"));
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, phi);
    co_await me.local_steps();
    co_await me.plain_step();  // theta
    co_await me.copy(Vector::x, c);
    co_await me.axpby(-1, phi, 1, c);      // Delta = theta - phi
    co_await me.axpby(beta, c, alpha, m);  // alpha m + beta Delta
    co_await me.axpby(gamma, phi, beta, c);
    co_await me.copy(phi, Vector::x);
    co_await me.axpby(1, m, 1, Vector::x);
    co_await me.average();  // x and m += sum_j W_ij (c_j - c_i)
  }
}

Traffic noloco_traffic(const Setup& setup) {
  return {.streams = {{.carries = "told", .moves = {"x", "outer momentum"}}}, .codec = setup.codec};
}

}  // namespace

extern const AlgorithmRow noloco_row{
    .kind = "noloco",
    .run = noloco,
    .mixes = true,
    .undirected = true,
    .traffic = noloco_traffic,
    .codecs = Codecs::dense,
    .options = noloco_options,
    .program = whole_steps,
    .promise = Promise::mean,
    .by_coordinate = true,
    .summary =
        "steps alone, then an outer Nesterov step with a drawn partner, no all-reduce; "
        "arXiv:2506.10911"};

}  // namespace gv
