#include <algorithm>
#include <cmath>

#include "gossip/registry.h"
#include "gossip/servers/servers.h"
#include "gossip/sums/norms.h"

// Downpour SGD. Dean et al., "Large scale distributed deep networks", NIPS 2012, Algorithm 7.1: a
// worker fetches the model every n_fetch steps, resumes from there alone, and pushes the sum of its
// gradients every n_push steps; the server steps on each sum as it comes. A round is one step. Here
// a worker waits for the fetched model. Server s of k holds part s. Per worker: 4 d bytes in every
// n_fetch rounds, 4 d bytes out every n_push.
// With `buffer` and `fetch` = `push` it is FedBuff: Nguyen, Malik, Zhan, Yousefpour, Rabbat, Malek
// & Huba, "Federated learning with buffered asynchronous aggregation", AISTATS 2022,
// arXiv:2106.06581, Algorithm 1: the server steps on the mean of K sums, of any workers, each times
// (1 + tau)^-a if the server has stepped tau times since the worker's fetch; the paper's a is 1/2.
// A worker's sum is its move in n_push steps of SGD, divided by their rate, by which the server
// steps as well: the paper's eta_g is 1. Workers are not drawn: each begins again when it has
// pushed. Fewer than K sums at the end of the run do not count.

namespace gv {
namespace {

constexpr Option downpour_options[] = {
    servers_option,
    optimizer_option(2),
    {.name = "fetch",
     .usual = 5,
     .least = 1,
     .most = 1e6,
     .whole = true,
     .help = "number of steps between two fetches of the model, n_fetch"},
    {.name = "push",
     .usual = 5,
     .least = 1,
     .most = 1e6,
     .whole = true,
     .help = "number of steps whose gradients are pushed together, n_push"},
    {.name = "buffer",
     .usual = 1,
     .least = 1,
     .most = 1e6,
     .whole = true,
     .help = "number of pushed sums that the servers average for one step, K"},
    {.name = "staleness",
     .usual = 0,
     .least = 0,
     .most = 10,
     .help = "exponent a of the weight of a late sum, (1 + server steps since its fetch)^-a"}};

Task<> downpour_work(Peer& me) {
  const Vector accrued = me.vector("accrued");
  const auto fetch = static_cast<Round>(me.number("fetch"));
  const auto together = static_cast<Round>(me.number("push"));
  for (; me.running(); co_await me.end_round()) {
    if (me.round % fetch == 0) {
      ask(me);
      const std::optional<Round> pulled = co_await pull(me, Vector::x);
      if (!pulled) co_return;
    }
    co_await me.gradient();
    co_await me.axpby(1, Vector::g, 1, accrued);
    co_await me.step_local();
    if ((me.round + 1) % together != 0) continue;
    co_await push(me, accrued);
    co_await me.scale(accrued, 0);
  }
}

/// Number of steps of this server, now and when `worker` last fetched.
double& steps_done(Peer& me) {
  return me.replica.scalar("steps");
}
double& steps_fetched(Peer& me, PeerId worker) {
  return me.replica.scalar("steps fetched", worker);
}

/// Steps on g, the sum of one worker, or keeps it until K are there.
Task<> apply(Peer& me, PeerId worker) {
  const double most = me.number("buffer");
  const double late = steps_done(me) - steps_fetched(me, worker);
  const double weight = std::pow(1 + late, -me.number("staleness")) / most;
  if (most > 1) {
    const Vector held = me.vector("held back");
    double& count = me.replica.scalar("held back");
    co_await me.axpby(static_cast<float>(weight), Vector::g, 1, held);
    if (++count < most) co_return;
    count = 0;
    co_await me.copy(held, Vector::g);
    co_await me.scale(held, 0);
  } else if (weight != 1) {
    co_await me.scale(Vector::g, static_cast<float>(weight));
  }
  co_await me.step_local();
  ++steps_done(me);
}

Task<> downpour_serve(Peer& me) {
  const auto together = static_cast<double>(me.number("push"));
  while (more_pushes(me)) {
    const Next next = co_await me.next(Kind::push);
    if (!next.message) continue;
    if (!next.message->payload) {
      co_await answer(me, *next.message, Vector::x);
      steps_fetched(me, next.message->from) = steps_done(me);
      continue;
    }
    const Payload floats = co_await sound(me, next.message->from, next.message->payload);
    const Payload counts = co_await shortened(me, next.message->from, floats);
    if (counts) {
      co_await me.load(Vector::g, whole(me), counts);
      co_await apply(me, next.message->from);
    }
    co_await count(me, together);
  }
}

/// Between two fetches a worker pushes fetch / push sums, which may all wait.
std::vector<Channel> downpour_channels(const Setup& setup, std::size_t d) {
  std::vector<Channel> both = asking_channels(setup, d);
  const double fetch = setup.settings.find("fetch")->second;
  const double push = setup.settings.find("push")->second;
  both[0].most_waiting = 3 + static_cast<std::uint32_t>(fetch / push);
  return both;
}

/// A server steps once for each `buffer` of sums.
double downpour_steps(const Setup& setup, PeerId i) {
  const double pushed = setup.settings.find("push")->second * setup.settings.find("buffer")->second;
  return i < setup.peers ? 1 : setup.peers / pushed;
}

std::string downpour_objection(const Setup& setup, const MixingMatrix*) {
  if (setup.local_steps == 1) return optimizer_objection(setup);
  return "downpour counts its steps by `fetch` and `push`: train.local_steps must be 1";
}

}  // namespace

extern const AlgorithmRow downpour_row{
    .kind = "downpour",
    .run = downpour_work,
    .serve = downpour_serve,
    .servers = count_servers,
    .codecs = Codecs::all,
    .links = server_links,
    .channels = downpour_channels,
    .options = downpour_options,
    .objection = downpour_objection,
    .optimizer = servers_optimizer,
    .steps = downpour_steps,
    .clips_sums = true,
    .program = {.turns = ProgramUse::Turns::gradient_then_step,
                .gradients = ProgramUse::Gradients::read,
                .rate = false},
    .promise = Promise::once,
    .synchronous = false,
    .summary = "workers train alone between fetches from and pushes to servers; Dean et al. 2012"};

}  // namespace gv
