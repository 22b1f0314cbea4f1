#include <algorithm>
#include <map>
#include <set>

#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/servers/servers.h"
#include "gossip/sums/norms.h"
#include "gossip/supply.h"

// SCAFFOLD. Karimireddy, Kale, Mohri, Reddi, Stich & Suresh, "SCAFFOLD: stochastic controlled
// averaging for federated learning", ICML 2020, arXiv:1910.06378, Algorithm 1 with option II: each
// drawn peer takes K = train.local_steps steps along g(y) - c_i + c from the servers' x, where c_i
// is the mean of its gradients when it was last drawn and c the mean of all c_i, so that no peer
// drifts to the optimum of its own data; then x <- x + eta_g mean (y_i - x), c_i <- c_i - c + (x -
// y_i) / (K eta_l), c <- c + the sum of the drawn peers' changes of c_i, over n. Deviation: the
// servers keep the c_i, which they can compute from the peers' moves. So a peer has no state that
// could be lost with it, and an answer that came too late counts nowhere: if the peer kept c_i, it
// would count in c_i and not in c, and c would stay wrong. The arithmetic is the paper's. Memory of
// a server: n + 4 vectors of its part. Per round and drawn peer: 8 d bytes to it, 4 d back.

namespace gv {
namespace {

constexpr Option scaffold_options[] = {servers_option,
                                       fraction_option,
                                       {.name = "server_lr",
                                        .usual = 1,
                                        .least = 0,
                                        .most = 1e6,
                                        .help = "learning rate of the servers, eta_g"}};

/// g(y) - c_i + c, where `correction` is c - c_i.
Task<> corrected_step(Peer& me, Vector correction) {
  co_await me.gradient();
  co_await me.axpby(1, correction, 1, Vector::g);
  co_await me.step_local();
}

/// A late worker was left out until its answer came: it continues in the round of its server.
Task<> scaffold_work(Peer& me) {
  const Setup& setup = *me.plan.setup;
  const Vector moved = me.vector("moved");
  const Vector correction = me.vector("correction");
  std::uint64_t talk = 0;
  for (; me.running(); co_await me.end_round()) {
    if (!std::ranges::binary_search(drawn(setup, me.round), me.plan.id)) continue;
    const std::optional<Round> theirs = co_await pull(me, Vector::x, talk);
    if (!theirs) co_return;
    const std::optional<Round> told = co_await pull(me, correction, talk, 1);
    if (!told) co_return;
    me.round = std::max(me.round, std::min(*theirs, me.plan.rounds - 1));
    co_await me.copy(Vector::x, moved);
    for (std::uint32_t k = 0; k < setup.steps_of(me.plan.id); ++k)
      co_await corrected_step(me, correction);
    co_await me.axpby(1, Vector::x, -1, moved);
    co_await push(me, moved, talk++);
  }
}

Vector control_of(Peer& me, PeerId worker) {
  return me.replica.vector("control of", worker);
}

float share_of(const Setup& setup) {
  return 1.0F / static_cast<float>(setup.peers);
}

/// Removes dead peers from the mean of the c_i: otherwise their last gradients would push the
/// others for ever (a loss of 0.97 instead of 0.39 in a run with real processes).
Task<> forget_dead(Peer& me, std::set<PeerId>& dead) {
  const Setup& setup = *me.plan.setup;
  for (const PeerId worker : trainers(setup)) {
    if (!me.dead(worker)) dead.erase(worker);
    if (!me.dead(worker) || !dead.insert(worker).second) continue;
    co_await me.axpby(-share_of(setup), control_of(me, worker), 1, me.vector("control"));
    co_await me.scale(control_of(me, worker), 0);
  }
}

/// Sends c - c_i to its peer, encoded; c is the mean over `living`.
Task<Payload> tell(Peer& me, PeerId worker, std::uint64_t talk, std::size_t living) {
  const Vector correction = me.vector("correction");
  const auto all = static_cast<float>(me.plan.setup->peers);
  co_await me.axpby(all / static_cast<float>(living), me.vector("control"), 0, correction);
  co_await me.axpby(-1, control_of(me, worker), 1, correction);
  const Payload told = co_await model(me, correction);
  me.send(worker, Kind::pull, told, 1, talk);
  co_return told;
}

/// Returns the total length of a round's steps, for any peer that trains: with unequal numbers of
/// steps, each step is shorter or longer in proportion (LearningRate::own_rate).
double length(const Setup& setup) {
  return setup.local_steps * setup.optimizer.lr;
}

/// c_i <- -moved / (K eta_l) - (c - c_i), which is the mean of the peer's gradients, and c follows.
Task<> learn(Peer& me, PeerId worker, Vector moved, Payload told) {
  const Setup& setup = *me.plan.setup;
  const Vector own = control_of(me, worker);
  const Vector correction = me.vector("correction");
  const float share = share_of(setup);
  co_await me.axpby(-share, own, 1, me.vector("control"));
  const Payload floats = co_await me.decode(told, me.replica.size(), models_codec(setup));
  co_await me.load(correction, whole(me), floats);
  co_await me.axpby(static_cast<float>(-1 / length(setup)), moved, 0, own);
  co_await me.axpby(-1, correction, 1, own);
  co_await me.axpby(share, own, 1, me.vector("control"));
}

Task<> scaffold_serve(Peer& me) {
  const Vector sum = me.vector("sum");
  const Vector theirs = me.vector("theirs");
  Talks talks(me);
  std::set<PeerId> dead;
  for (; me.running(); co_await me.end_round()) {
    co_await forget_dead(me, dead);
    const std::size_t living = std::max<std::size_t>(1, me.plan.setup->peers - dead.size());
    const Payload x = co_await model(me, Vector::x);
    const std::vector<PeerId> asked = co_await talks.ask_drawn(x);
    std::map<PeerId, Payload> told;
    for (const PeerId worker : asked)
      told[worker] = co_await tell(me, worker, talks.number(worker), living);
    std::map<PeerId, Payload> answers = co_await talks.answers_of(asked);
    co_await shorten(me, answers);
    std::size_t count = 0;
    for (const auto& [worker, floats] : answers) {
      if (!floats) continue;
      co_await me.load(theirs, whole(me), floats);
      co_await me.axpby(1, theirs, count > 0 ? 1 : 0, sum);
      co_await learn(me, worker, theirs, told[worker]);
      ++count;
    }
    if (count == 0 && !someone_trains(me)) co_return;
    const double part = count > 0 ? me.number("server_lr") / static_cast<double>(count) : 0;
    if (count > 0) co_await me.axpby(static_cast<float>(part), sum, 1, Vector::x);
  }
}

/// The servers answer with two vectors.
std::vector<Channel> scaffold_channels(const Setup& setup, std::size_t d) {
  std::vector<Channel> both = server_channels(setup, d, Keeps::numbered);
  for (Channel& channel : both) {
    if (channel.kind != Kind::pull) continue;
    const auto one = channel.fits;
    channel.fits = [one](PeerId from, std::uint32_t part, std::size_t bytes) {
      return part <= 1 && one(from, 0, bytes);
    };
  }
  return both;
}

std::string scaffold_objection(const Setup& setup, const MixingMatrix*) {
  if (std::string why = objection_to_clip_norm(setup, "scaffold"); !why.empty()) return why;
  const OptimizerSpec& o = setup.optimizer;
  if (std::string why = objection_to_other_steps(setup, "scaffold"); !why.empty()) return why;
  if (o.lr == 0 || o.schedule.kind != "constant" || o.schedule.warmup > 0)
    return "scaffold divides what a peer has moved by its rate: take a `lr` above 0, and no "
           "`schedule` or `warmup`";
  return own_samples_objection(setup);
}

}  // namespace

extern const AlgorithmRow scaffold_row{
    .kind = "scaffold",
    .run = scaffold_work,
    .serve = scaffold_serve,
    .servers = count_servers,
    .codecs = Codecs::dense,
    .links = server_links,
    .channels = scaffold_channels,
    .options = scaffold_options,
    .objection = scaffold_objection,
    .clips_sums = true,
    .program = {.objection =
                    "its servers divide what a peer has moved by the rate, which a program "
                    "keeps to itself: take `fedavg`"},
    .promise = Promise::once,
    .summary =
        "drawn peers step along corrected gradients, so that unlike data pull none of them "
        "apart; arXiv:1910.06378"};

}  // namespace gv
