#include "gossip/registry.h"
#include "gossip/servers/servers.h"
#include "gossip/steps/steps.h"
#include "gossip/sums/norms.h"

// Asynchronous local SGD with delayed Nesterov momentum. Liu, Chhaparia, Douillard, Kale, Rusu,
// Shen, Szlam & Ranzato, "Asynchronous local-SGD training for language modeling", 2024,
// arXiv:2401.09135: a peer takes H = train.local_steps inner steps from the servers' theta, sends
// them Delta = theta - theta_i, and takes their model again; no peer waits for another. The servers
// step along each Delta as it comes, by lr / N. Momentum on stale updates is harmful, so the
// momentum moves once for N updates: m <- beta m + mean of the N Delta, and theta moves lr beta m
// further, of which the last of the N takes 1 - c N + c and each of the others c, with the earlier
// momentum. `train.local_steps: auto` is the paper's dynamic local updates: steps in proportion to
// a peer's speed, so that all Delta are of the same time; deviation: each peer's rate is then
// divided by its steps, as everywhere here (FedNova), so that fast peers do not count for more.
// With N = n, equal peers and one server the n Delta of a round are DiLoCo's, each from the model
// after the one before. Server s of k holds part s. Memory of a peer: 1 vector; of a server: 2. Per
// round and peer: 4 d bytes each way.

namespace gv {
namespace {

constexpr Option async_diloco_options[] = {
    servers_option,
    {.name = "buffer",
     .usual = 0,
     .least = 0,
     .most = 1e6,
     .whole = true,
     .help = "number of parts between two momentum steps, N; 0: the number of peers"},
    {.name = "c",
     .usual = 0,
     .least = 0,
     .most = 1,
     .help = "fraction of the momentum that each part except the N-th applies, c; at most 1 / N"},
    outer_lr_option(0.7),
    outer_momentum_option};

double buffer_of(const Setup& setup) {
  const double given = setup.settings.find("buffer")->second;
  return given == 0 ? setup.peers : given;
}

/// A successor of a dead process first asks for the model, for a round.
Task<> async_diloco_work(Peer& me) {
  const Vector moved = me.vector("moved");
  bool asks = me.plan.rejoins;
  for (; me.running(); co_await me.end_round()) {
    if (asks) {
      ask(me);
      asks = false;
    } else {
      co_await me.copy(Vector::x, moved);
      co_await me.local_steps();
      co_await me.plain_step();
      co_await me.axpby(-1, Vector::x, 1, moved);  // theta - theta_i
      co_await push(me, moved);
    }
    const std::optional<Round> theirs = co_await pull(me, Vector::x);
    if (!theirs) co_return;
  }
}

/// theta <- theta - lr (Delta / N + beta share m), where Delta is g.
Task<> step_along(Peer& me) {
  const Vector held = me.vector("held back");
  const Vector m = me.vector("outer momentum");
  const double n = buffer_of(*me.plan.setup);
  const double lr = me.number("outer_lr");
  const double beta = me.number("outer_momentum");
  const double c = me.number("c");
  double& parts = me.replica.scalar("held back");
  const bool last = ++parts >= n;
  co_await me.axpby(static_cast<float>(1 / n), Vector::g, 1, held);
  if (last) {
    co_await me.axpby(1, held, static_cast<float>(beta), m);
    co_await me.scale(held, 0);
    parts = 0;
  }
  const double share = last ? 1 - c * n + c : c;
  co_await me.axpby(static_cast<float>(-lr / n), Vector::g, 1, Vector::x);
  if (share > 0) co_await me.axpby(static_cast<float>(-lr * beta * share), m, 1, Vector::x);
}

Task<> async_diloco_serve(Peer& me) {
  while (more_pushes(me)) {
    const Next next = co_await me.next(Kind::push);
    if (!next.message) continue;
    const bool gives = next.message->payload != nullptr;
    if (gives) {
      const Payload floats = co_await sound(me, next.message->from, next.message->payload);
      const Payload counts = co_await shortened(me, next.message->from, floats);
      if (counts) {
        co_await me.load(Vector::g, whole(me), counts);
        co_await step_along(me);
      }
    }
    co_await answer(me, *next.message, Vector::x);
    if (gives) co_await count(me, 1);
  }
}

std::string async_diloco_objection(const Setup& setup, const MixingMatrix*) {
  const auto parts = static_cast<std::uint64_t>(buffer_of(setup));
  if (setup.settings.find("c")->second * buffer_of(setup) <= 1 + 1e-9) return "";
  return "with `c` above 1 / N the parts of a buffer apply more than the whole momentum: take "
         "1 / " +
         std::to_string(parts) + " at most";
}

}  // namespace

extern const AlgorithmRow async_diloco_row{
    .kind = "async-diloco",
    .run = async_diloco_work,
    .serve = async_diloco_serve,
    .servers = count_servers,
    .codecs = Codecs::all,
    .links = server_links,
    .channels = asking_channels,
    .options = async_diloco_options,
    .objection = async_diloco_objection,
    .clips_sums = true,
    .program = whole_steps,
    .promise = Promise::once,
    .synchronous = false,
    .summary =
        "DiLoCo whose servers take each peer's part as it comes, and momentum once for N; "
        "arXiv:2401.09135"};

}  // namespace gv
