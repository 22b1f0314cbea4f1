#include <algorithm>

#include "gossip/norms.h"
#include "gossip/registry.h"
#include "gossip/servers.h"

// Downpour SGD. Dean et al., "Large scale distributed deep networks", NIPS 2012, Algorithm 7.1: a
// worker fetches the model every n_fetch steps, goes on from there alone, and pushes the sum of its
// gradients every n_push steps; the server steps on each sum as it comes. A round is one step. Here
// a worker waits for what it fetches. Server s of k holds part s. Per worker: 4 d bytes in every
// n_fetch rounds, 4 d bytes out every n_push.

namespace gv {
namespace {

constexpr Option options[] = {servers_option,
                              optimizer_option(2),
                              {.name = "fetch",
                               .usual = 5,
                               .least = 1,
                               .most = 1e6,
                               .whole = true,
                               .help = "steps from one look at the model to the next, n_fetch"},
                              {.name = "push",
                               .usual = 5,
                               .least = 1,
                               .most = 1e6,
                               .whole = true,
                               .help = "steps whose gradients are pushed together, n_push"}};

Task<> work(Peer& me) {
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

Task<> serve(Peer& me) {
  const auto together = static_cast<double>(me.number("push"));
  while (more_pushes(me)) {
    const Next next = co_await me.next(Kind::push);
    if (!next.message) continue;
    if (!next.message->payload) {
      co_await answer(me, *next.message, Vector::x);
      continue;
    }
    const Payload floats = co_await sound(me, next.message->from, next.message->payload);
    const Payload counts = co_await shortened(me, next.message->from, floats);
    if (counts) {
      co_await me.load(Vector::g, whole(me), counts);
      co_await me.step_local();
    }
    co_await count(me, together);
  }
}

/// Between two looks at the model a worker pushes so many sums, which may all wait.
std::vector<Channel> channels(const Setup& setup, std::size_t d) {
  std::vector<Channel> both = queue_channels(setup, d);
  const double fetch = setup.settings.find("fetch")->second;
  const double push = setup.settings.find("push")->second;
  both[0].most_waiting = 3 + static_cast<std::uint32_t>(fetch / push);
  both[0].fits = [n = setup.peers, vector = both[0].fits](
                     PeerId from, std::uint32_t part, std::size_t bytes) {
    return part == 1 ? from < n && bytes == 0 : vector(from, part, bytes);
  };
  return both;
}

/// A server steps once for each sum.
double steps(const Setup& setup, PeerId i) {
  return i < setup.peers ? 1 : setup.peers / setup.settings.find("push")->second;
}

std::string objection(const Setup& setup, const MixingMatrix*) {
  if (setup.local_steps == 1) return optimizer_objection(setup);
  return "downpour counts its steps by `fetch` and `push`: train.local_steps must be 1";
}

}  // namespace

extern const AlgorithmRow downpour_row{
    .kind = "downpour",
    .run = work,
    .serve = serve,
    .servers = count_servers,
    .codecs = Codecs::all,
    .links = server_links,
    .channels = channels,
    .options = options,
    .objection = objection,
    .optimizer = servers_optimizer,
    .steps = steps,
    .clips_sums = true,
    .program = {.turns = ProgramUse::Turns::gradient_then_step,
                .gradients = ProgramUse::Gradients::read,
                .rate = false},
    .promise = Promise::once,
    .synchronous = false,
    .summary = "workers go on alone between fetches and pushes to servers; Dean et al. 2012"};

}  // namespace gv
