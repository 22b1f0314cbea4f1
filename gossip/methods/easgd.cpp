#include "gossip/registry.h"
#include "gossip/servers/servers.h"
#include "gossip/sums/norms.h"

// Elastic averaging SGD. Zhang, Choromanska & LeCun, "Deep learning with elastic averaging SGD",
// NIPS 2015, arXiv:1412.6651, equations 5 and 6 (sync) and Algorithm 1 (async). Every tau steps a
// worker and the centre x~ move towards each other by alpha: x_i -= alpha (x_i - x~),
// x~ += alpha (x_i - x~), both computed from the values that were sent. With `momentum` the
// workers' steps are those of EAMSGD, whose look-ahead point is our x. The centre is the fleet's
// model; server s of k holds part s. Per round and worker: k messages of 4 d / k bytes each way.

namespace gv {
namespace {

constexpr Option easgd_options[] = {
    servers_option,
    {.name = "alpha",
     .usual = 0.1,
     .least = 0,
     .most = 1,
     .help = "moving rate alpha: fraction by which worker and centre move towards each other in a "
             "round"},
    {.name = "momentum",
     .usual = 0,
     .least = 0,
     .most = 0.999999,
     .help = "Nesterov momentum of the workers, delta; above 0 the method is EAMSGD"},
    {.name = "tau",
     .usual = 1,
     .least = 1,
     .most = 1e6,
     .whole = true,
     .help = "number of steps per round"}};

/// v <- v + alpha (theirs - count ours), both as they were sent; theirs is a sum of `count`
/// vectors. So one end gains what the other loses, with a codec too.
Task<> draw(Peer& me, Vector v, float alpha, Vector theirs, float count, Vector ours) {
  co_await me.axpby(alpha, theirs, 1, v);
  co_await me.axpby(-alpha * count, ours, 1, v);
}

Task<> easgd_work(Peer& me) {
  const Vector sent = me.vector("sent");
  const Vector centre = me.vector("centre");
  const auto alpha = static_cast<float>(me.number("alpha"));
  const auto tau = static_cast<Round>(me.number("tau"));
  for (; me.running(); co_await me.end_round()) {
    co_await me.gradient();  // at x_i, before it is drawn
    co_await me.copy(Vector::x, sent);
    co_await push(me, sent);
    const std::optional<Round> pulled = co_await pull(me, centre);
    if (!pulled) co_return;
    co_await draw(me, Vector::x, alpha, centre, 1, sent);
    co_await me.step_local();
    for (Round t = 1; t < tau; ++t) co_await me.plain_step();
  }
}

/// Returns the encoded centre; sent <- the worker's decoding.
Task<Payload> centre_of(Peer& me, Vector sent) {
  const Payload centre = co_await model(me, Vector::x);
  const Payload floats =
      co_await me.decode(centre, me.replica.size(), models_codec(*me.plan.setup));
  co_await me.load(sent, whole(me), floats);
  co_return centre;
}

/// x~ <- x~ + alpha sum_i (x_i - x~) over the m workers of the round.
Task<> serve_together(Peer& me) {
  const Vector sent = me.vector("sent");
  const Vector theirs = me.vector("theirs");
  const auto alpha = static_cast<float>(me.number("alpha"));
  for (; me.running(); co_await me.end_round()) {
    std::map<PeerId, Message> pushes = co_await collect(me, me.plan.setup->peers);
    if (pushes.empty()) co_return;
    const Payload centre = co_await centre_of(me, sent);
    for (const auto& [worker, push] : pushes) me.send(worker, Kind::pull, centre, 0, push.number);
    if (clips_sums(me)) {
      const Payload from = co_await me.snapshot(sent, whole(me));
      co_await shorten(me, pushes, from);
    }
    const std::size_t m = co_await sum(me, theirs, pushes);
    if (m > 0) co_await draw(me, Vector::x, alpha, theirs, static_cast<float>(m), sent);
  }
}

Task<> serve_each(Peer& me) {
  const Vector sent = me.vector("sent");
  const Vector theirs = me.vector("theirs");
  const auto alpha = static_cast<float>(me.number("alpha"));
  while (more_pushes(me)) {
    const Next next = co_await me.next(Kind::push);
    if (!next.message) continue;
    const Payload centre = co_await centre_of(me, sent);
    me.send(next.message->from, Kind::pull, centre, 0, next.message->number);
    const Payload floats = co_await sound(me, next.message->from, next.message->payload);
    if (floats) {
      Payload counts = floats;
      if (clips_sums(me)) {
        const Payload from = co_await me.snapshot(sent, whole(me));
        counts = co_await shortened(me, next.message->from, floats, from);
      }
      co_await me.load(theirs, whole(me), counts);
      co_await draw(me, Vector::x, alpha, theirs, 1, sent);
    }
    co_await count(me, 1);
  }
}

double easgd_steps(const Setup& setup, PeerId) {
  return setup.settings.find("tau")->second;
}

OptimizerSpec easgd_optimizer(OptimizerSpec usual, const Setup& setup, PeerId i) {
  const double momentum = setup.settings.find("momentum")->second;
  if (i >= setup.peers || momentum == 0) return usual;
  usual.momentum = momentum;
  usual.nesterov = true;
  return usual;
}

std::string easgd_objection(const Setup& setup, const MixingMatrix*) {
  const bool own = setup.optimizer.kind != "sgd" || setup.optimizer.momentum != 0;
  if (own && setup.settings.find("momentum")->second != 0)
    return "easgd has a `momentum` of its own: take `train.optimizer: { kind: sgd }` without one";
  if (setup.local_steps == 1) return "";
  return "easgd counts the steps between two averages as `tau`: train.local_steps must be 1";
}

std::string sync_objection(const Setup& setup, const MixingMatrix* w) {
  const double pull = setup.settings.find("alpha")->second * setup.peers;
  if (pull <= 1) return easgd_objection(setup, w);
  return "the centre moves by n alpha of its distance to the workers, and more than 1 overshoots: "
         "take an "
         "`alpha` of 1 / " +
         std::to_string(setup.peers) + " at most, or `order: async`";
}

}  // namespace

extern const AlgorithmRow sync_easgd_row{
    .kind = "easgd",
    .order = "sync",
    .run = easgd_work,
    .serve = serve_together,
    .servers = count_servers,
    .codecs = Codecs::dense,
    .links = server_links,
    .channels = queue_channels,
    .options = easgd_options,
    .objection = sync_objection,
    .optimizer = easgd_optimizer,
    .steps = easgd_steps,
    .clips_sums = true,
    .program = split_steps,
    .promise = Promise::once,
    .summary = "workers and a centre draw each other nearer, all at once; arXiv:1412.6651"};
extern const AlgorithmRow async_easgd_row{
    .kind = "easgd",
    .order = "async",
    .run = easgd_work,
    .serve = serve_each,
    .servers = count_servers,
    .codecs = Codecs::dense,
    .links = server_links,
    .channels = queue_channels,
    .options = easgd_options,
    .objection = easgd_objection,
    .optimizer = easgd_optimizer,
    .steps = easgd_steps,
    .clips_sums = true,
    .program = split_steps,
    .promise = Promise::once,
    .synchronous = false,
    .summary = "each worker and a centre draw each other nearer; arXiv:1412.6651"};

}  // namespace gv
