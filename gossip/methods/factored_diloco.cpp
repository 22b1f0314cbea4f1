#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/seam/task.h"
#include "gossip/steps/steps.h"
#include "gossip/sums/collectives.h"
#include "gossip/sums/links.h"

// Factored Gossip DiLoCo. Koneputugodage, Ajanthan, Ramasinghe, Mohaghegh Dolatabadi, Siriwardhana,
// Avraham, Shevchenko, Pajak, Snewin & Long, "Factored gossip DiLoCo: reducing blocking
// communication in DiLoCo", ICML 2026, arXiv:2606.22768: two mixings, neither of which has to be
// exact, replace DiLoCo's mean. Mix1 mixes the models phi_i after the outer steps, and is under way
// while each peer takes its H = train.local_steps inner steps from its own phi_i; Mix2 mixes the
// moves Delta_i = phi_i - theta_i, and peers wait for it. Then phi_i <- (Mix1 phi)_i - lr (D_i + mu
// u_i), u_i <- mu u_i + D_i, D = Mix2 Delta: an outer step with a momentum of each peer's own.
// Delta_i comes from this round, so nothing is stale, but from another point. Here it is the
// paper's GlobalM1LocalM2: Mix1 is the exact mean of all, along a ring, and Mix2 the mean over the
// neighbours by W; with `mix2: none`, GlobalM1. If all peers are neighbours with equal weights it
// is DiLoCo. Deviation: Mix2 is of the whole Delta; the paper finds that embeddings and the first
// layers are enough. Memory of a peer: 4 vectors. Per round and peer: deg messages out, 4 d deg
// bytes, for Mix2, and 2 (n - 1), 8 d (n - 1) / n bytes.

namespace gv {
namespace {

constexpr std::string_view mixings[] = {"neighbours", "none"};

constexpr Option factored_diloco_options[] = {
    {.name = "mix2",
     .usual = 0,
     .least = 0,
     .most = 1,
     .whole = true,
     .help = "peers whose inner updates a peer waits for and averages; none: its own alone",
     .words = mixings},
    outer_lr_option(0.7),
    outer_momentum_option};

/// x <- theta_i, delta <- phi - theta_i.
Task<> inner_steps(Peer& me, Vector phi, Vector delta) {
  co_await me.local_steps();
  co_await me.plain_step();
  co_await me.copy(phi, delta);
  co_await me.axpby(-1, Vector::x, 1, delta);
}

Task<> sum_up(Peer& me, Vector v, bool& done) {
  done = co_await all_reduce(me, everyone(me), v, Way::ring);
}

/// x <- `sum` / number of peers; elements in which any peer's phi is not finite keep phi.
Task<> take_mean(Peer& me, Vector sum, Vector phi) {
  const Range whole{0, me.replica.size()};
  co_await me.axpby(1.0F / static_cast<float>(everyone(me).size()), sum, 0, Vector::x);
  const Payload mean = co_await me.snapshot(Vector::x, whole);
  if (all_finite(mean->floats())) co_return;
  const Payload own = co_await me.snapshot(phi, whole);
  co_await take_finite_elements(me, mean, own);
}

Task<> factored_diloco(Peer& me) {
  const Vector phi = me.vector("slow weights");
  const Vector sum = me.vector("sum of slow weights");
  const Vector delta = me.vector("outer gradient");
  const Vector u = me.vector("outer momentum");
  const bool blocks = me.number("mix2") == 0;
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, phi);
    co_await me.copy(Vector::x, sum);
    bool done = false;
    Beside mixing(me.world, sum_up(me, sum, done));
    co_await inner_steps(me, phi, delta);
    co_await mixing.join();
    if (!done) co_return;
    if (blocks) co_await me.average();  // delta
    co_await take_mean(me, sum, phi);
    co_await outer_step(me, delta, u);
  }
}

Traffic factored_diloco_traffic(const Setup& setup) {
  return {.streams = {{.carries = "outer gradient"}}, .codec = setup.codec};
}

std::string factored_diloco_objection(const Setup& setup, const MixingMatrix*) {
  return objection_to_waits(setup, "factored-diloco");
}

}  // namespace

extern const AlgorithmRow factored_diloco_row{
    .kind = "factored-diloco",
    .run = factored_diloco,
    .mixes = true,
    .traffic = factored_diloco_traffic,
    .codecs = Codecs::dense,
    .links = ring_links,
    .channels = plain_ring_channels,
    .options = factored_diloco_options,
    .objection = factored_diloco_objection,
    .program = whole_steps,
    .promise = Promise::agreement,
    .summary =
        "DiLoCo: all models' mean beside the steps, the neighbours' of what moved behind "
        "them; arXiv:2606.22768"};

}  // namespace gv
