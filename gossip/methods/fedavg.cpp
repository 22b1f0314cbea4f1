#include <algorithm>
#include <map>

#include "gossip/registry.h"
#include "gossip/servers/robust_rules.h"
#include "gossip/servers/servers.h"
#include "gossip/sums/norms.h"
#include "gossip/supply.h"

// Federated averaging. McMahan, Moore, Ramage, Hampson & Aguera y Arcas, "Communication-efficient
// learning of deep networks from decentralized data", AISTATS 2017, arXiv:1602.05629, Algorithm 1.
// In each round max(C n, 1) peers are drawn; each takes the server's model, passes E times over its
// own data, and gives its model back; the server's next one is their mean, weighted by their
// samples. Data never leave their peer, and peers that are not drawn do nothing. A peer sends back
// its model's move, so that a codec loses nothing of the model itself: FedPAQ, Reisizadeh,
// Mokhtari, Hassani, Jadbabaie & Pedarsani, AISTATS 2020, arXiv:1909.13014. Server s of k holds
// part s. Per round and drawn peer: 4 d bytes each way.
// With `mu` it is FedProx: Li, Sahu, Zaheer, Sanjabi, Talwalkar & Smith, "Federated optimization in
// heterogeneous networks", MLSys 2020, arXiv:1812.06127, Algorithm 2: each peer descends its loss +
// mu / 2 ||x - x_t||^2, where x_t is the server's model. With `optimizer` it is FedAdagrad, FedAdam
// or FedYogi (optim/train/optimizer.h): Reddi et al. 2021, arXiv:2003.00295, Algorithm 2.
// With `aggregate` the moves are combined by robust_rules.h, without weights.

namespace gv {
namespace {

constexpr std::string_view optimizers[] = {"mean", "adagrad", "adam", "yogi"};

constexpr Option fedavg_options[] = {
    servers_option,
    fraction_option,
    {.name = "epochs",
     .usual = 1,
     .least = 1,
     .most = 1000,
     .whole = true,
     .help = "number of passes over the peer's own data per round, E"},
    {.name = "mu",
     .usual = 0,
     .least = 0,
     .most = 1e6,
     .help = "FedProx: strength of the pull towards the servers' model, mu"},
    {.name = "optimizer",
     .usual = 0,
     .least = 0,
     .most = 3,
     .whole = true,
     .help = "optimizer of the servers, applied to the mean update of the drawn peers",
     .words = optimizers},
    {.name = "server_lr",
     .usual = 0,
     .least = 0,
     .most = 1e6,
     .help = "learning rate of the servers, eta; 0: 1 with mean, 0.01 with the other optimizers"},
    {.name = "beta1",
     .usual = 0.9,
     .least = 0,
     .most = 0.999999,
     .help = "momentum of the servers' optimizer; not for mean (the paper runs adagrad with 0)"},
    {.name = "beta2",
     .usual = 0.99,
     .least = 0,
     .most = 0.999999,
     .help = "adam, yogi: decay rate of the mean square"},
    {.name = "tau",
     .usual = 0.001,
     .least = 1e-9,
     .most = 1,
     .help = "constant added to the root of the mean square; not for mean"},
    aggregate_option,
    liars_option};

double option(const Setup& setup, std::string_view name) {
  return setup.settings.find(name)->second;
}

bool takes_the_mean(const Setup& setup) {
  return option(setup, "optimizer") == 0;
}

double server_rate(const Setup& setup) {
  const double given = option(setup, "server_lr");
  if (given > 0) return given;
  return takes_the_mean(setup) ? 1 : 0.01;
}

/// Returns the steps of a peer in a round in which it is drawn.
double fedavg_steps(const Setup& setup, PeerId i) {
  const std::uint64_t pass = i < setup.epochs.size() ? setup.epochs[i] : 1;
  return static_cast<double>(pass) * option(setup, "epochs");
}

/// Steps along the gradient of the loss + mu / 2 ||x - start||^2.
Task<> proximal_step(Peer& me, Vector start, float mu) {
  if (mu == 0) co_return co_await me.plain_step();
  co_await me.gradient();
  co_await me.axpby(mu, Vector::x, 1, Vector::g);
  co_await me.axpby(-mu, start, 1, Vector::g);
  co_await me.step_local();
}

/// A late worker was left out until its answer came: it continues in the round of its server.
Task<> fedavg_work(Peer& me) {
  const Setup& setup = *me.plan.setup;
  const Vector moved = me.vector("moved");
  const auto passes = static_cast<std::uint64_t>(fedavg_steps(setup, me.plan.id));
  const auto mu = static_cast<float>(me.number("mu"));
  std::uint64_t talk = 0;
  for (; me.running(); co_await me.end_round()) {
    if (!std::ranges::binary_search(drawn(setup, me.round), me.plan.id)) continue;
    const std::optional<Round> theirs = co_await pull(me, Vector::x, talk);
    if (!theirs) co_return;
    me.round = std::max(me.round, std::min(*theirs, me.plan.rounds - 1));
    co_await me.copy(Vector::x, moved);
    for (std::uint64_t t = 0; t < passes; ++t) co_await proximal_step(me, moved, mu);
    co_await me.axpby(1, Vector::x, -1, moved);
    co_await push(me, moved, talk++);
  }
}

/// Steps along the mean of the moves, which are over `samples` samples.
Task<> take_step(Peer& me, Vector sum, double samples) {
  const Setup& setup = *me.plan.setup;
  if (takes_the_mean(setup)) {
    const double part = server_rate(setup) / samples;
    co_return co_await me.axpby(static_cast<float>(part), sum, 1, Vector::x);
  }
  co_await me.axpby(static_cast<float>(-1 / samples), sum, 0, Vector::g);
  co_await me.step_local();
}

Task<> fedavg_serve(Peer& me) {
  const Setup& setup = *me.plan.setup;
  const Vector sum = me.vector("sum");
  std::map<PeerId, double> owned;
  for (const PeerId peer : trainers(setup))
    owned[peer] = setup.samples.empty() ? 1 : static_cast<double>(setup.samples[peer]);
  Talks talks(me);
  for (; me.running(); co_await me.end_round()) {
    double samples = 0;
    const Payload x = co_await model(me, Vector::x);
    const std::vector<PeerId> asked = co_await talks.ask_drawn(x);
    std::map<PeerId, Payload> answers = co_await talks.answers_of(asked);
    co_await shorten(me, answers);
    if (aggregate_of(setup) != Aggregate::mean) {
      const bool some = co_await aggregate(me, sum, answers);
      if (some) samples = 1;
    } else {
      samples = co_await weighted_sum(me, sum, answers, owned);
    }
    if (samples > 0) co_await take_step(me, sum, samples);
    if (samples == 0 && !someone_trains(me)) co_return;
  }
}

std::vector<Channel> fedavg_channels(const Setup& setup, std::size_t d) {
  return server_channels(setup, d, Keeps::numbered);
}

OptimizerSpec fedavg_optimizer(OptimizerSpec usual, const Setup& setup, PeerId i) {
  if (i < setup.peers || takes_the_mean(setup)) return usual;
  const auto chosen = static_cast<std::size_t>(option(setup, "optimizer"));
  return {.kind = "fed-" + std::string(optimizers[chosen]),
          .lr = server_rate(setup),
          .beta1 = option(setup, "beta1"),
          .beta2 = option(setup, "beta2"),
          .epsilon = option(setup, "tau"),
          .schedule = {}};
}

double steps_on_average(const Setup& setup, PeerId i) {
  return fedavg_steps(setup, i) * draws(setup) / setup.peers;
}

std::string fedavg_objection(const Setup& setup, const MixingMatrix*) {
  if (std::string why = aggregate_objection(setup, draws(setup)); !why.empty()) return why;
  if (setup.local_steps != 1)
    return "fedavg counts its steps by `epochs`: train.local_steps must be 1";
  return own_samples_objection(setup);
}

}  // namespace

extern const AlgorithmRow fedavg_row{
    .kind = "fedavg",
    .run = fedavg_work,
    .serve = fedavg_serve,
    .servers = count_servers,
    .codecs = Codecs::all,
    .links = server_links,
    .channels = fedavg_channels,
    .options = fedavg_options,
    .objection = fedavg_objection,
    .optimizer = fedavg_optimizer,
    .steps = steps_on_average,
    .clips_sums = true,
    .program = whole_steps,
    .promise = Promise::once,
    .summary =
        "drawn peers train alone, a server takes their weighted mean, or a step along it; "
        "arXiv:1602.05629"};

}  // namespace gv
