#include <map>

#include "gossip/registry.h"

// Stochastic gradient push. Assran, Loizou, Ballas & Rabbat, "Stochastic gradient push for
// distributed deep learning", ICML 2019, arXiv:1811.10792, Algorithm 1; with `overlap` tau,
// Algorithm 2: what others pushed in round t counts in round t + tau, or when it comes. On directed
// graphs. A peer holds a mass u and a weight w, both of which it divides evenly
// among itself and its receivers; its model is x = u / w. The sums of u and of w over the fleet,
// with what is under way, stay what they are: what comes late counts when it comes. What was on its
// way to a peer that dies goes with it, of u and of w alike, and so does what a checkpoint finds
// under way. Memory of a peer: 3 vectors. Per round and peer: out-degree messages, of 4 d bytes
// each.

namespace gv {
namespace {

constexpr Option options[] = {{.name = "overlap",
                               .usual = 0,
                               .least = 0,
                               .most = 100,
                               .whole = true,
                               .help = "rounds that a push may be under way, tau"}};

/// By round and sender: the order in which they count.
struct Push {
  Payload mass, weight;
};
using Pushes = std::map<std::pair<std::uint64_t, PeerId>, Push>;

Neighborhood row(const Peer& me, Round round) {
  return me.plan.schedule ? me.plan.schedule->row(round, me.plan.id) : me.plan.neighborhood;
}

/// x - gamma g, and u by as much.
Task<> step(Peer& me, Vector u, Vector before) {
  co_await me.gradient();
  co_await me.copy(Vector::x, before);
  co_await me.step_local();
  co_await me.axpby(1, Vector::x, 1, u);
  co_await me.axpby(-1, before, 1, u);
}

/// What is sent is given away at once.
Task<> push(Peer& me, Vector u, double& w) {
  std::vector<PeerId> receivers = row(me, me.round).receivers;
  std::erase_if(receivers, [&](PeerId j) { return !me.here(j); });
  const double share = 1.0 / (1.0 + static_cast<double>(receivers.size()));
  co_await me.scale(u, static_cast<float>(share));
  w = static_cast<double>(static_cast<float>(w * share));
  const Payload mass = co_await me.snapshot(u, {0, me.replica.size()});
  const Payload weight = me.one_number(w);
  for (const PeerId j : receivers) {
    me.send(j, Kind::push, mass, 0);
    me.send(j, Kind::push, weight, 1);
  }
}

void keep(Message message, Pushes& pushes) {
  Push& push = pushes[{message.number, message.from}];
  (message.part == 0 ? push.mass : push.weight) = std::move(message.payload);
}

/// Whether the pushes of a round are here, but for those whose sender is not.
bool all_here(const Peer& me, Round round, const Pushes& pushes) {
  for (const PeerId j : row(me, round).peers) {
    const auto push = pushes.find({round, j});
    const bool whole = push != pushes.end() && push->second.mass && push->second.weight;
    if (!whole && me.here(j)) return false;
  }
  return true;
}

Task<> hear(Peer& me, Pushes& pushes, Round until) {
  while (me.waiting(Kind::push) || !all_here(me, until, pushes)) {
    Next next = co_await me.next(Kind::push, me.plan.deadline);
    if (next.message) keep(std::move(*next.message), pushes);
    if (next.late) co_return;
  }
}

/// A weight comes from another peer's division, so it is in (0, n].
bool counts(const Peer& me, const Push& push) {
  const float weight = push.weight->floats()[0];
  return weight > 0 && weight <= static_cast<float>(me.plan.setup->peers) &&
         all_finite(push.mass->floats());
}

Task<> take(Peer& me, Pushes& pushes, Round until, Vector u, double& w) {
  for (auto push = pushes.begin(); push != pushes.end() && push->first.first <= until;) {
    if (!push->second.mass || !push->second.weight) {
      ++push;
      continue;
    }
    const Push taken = push->second;
    bool sound = true;
    co_await me.compute(static_cast<double>(me.replica.size()), [&] { sound = counts(me, taken); });
    if (sound) co_await me.add(u, {0, me.replica.size()}, taken.mass);
    if (sound) w += static_cast<double>(taken.weight->floats()[0]);
    if (!sound) me.journal.note(event::NotFiniteCame{me.round, push->first.second, 1, 0});
    push = pushes.erase(push);
  }
}

Task<> sgp(Peer& me) {
  const Vector u = me.vector("mass");
  const Vector before = me.vector("before");
  double& w = me.replica.scalar("weight");
  const auto overlap = static_cast<Round>(me.number("overlap"));
  if (w == 0) {
    co_await me.copy(Vector::x, u);
    w = 1;
  }
  Pushes pushes;
  for (; me.running(); co_await me.end_round()) {
    co_await step(me, u, before);
    co_await push(me, u, w);
    if (me.round >= overlap) {
      co_await hear(me, pushes, me.round - overlap);
      co_await take(me, pushes, me.round - overlap, u, w);
    }
    co_await me.axpby(static_cast<float>(1 / w), u, 0, Vector::x);
  }
}

/// A neighbour may be ahead by as many rounds as there are peers, and be late by the overlap.
std::vector<Channel> channels(const Setup& setup, std::size_t d) {
  const auto fits = [d](PeerId, std::uint32_t part, std::size_t bytes) {
    return (part == 0 && bytes == d * sizeof(float)) || (part == 1 && bytes == sizeof(float));
  };
  const auto overlap = static_cast<std::uint32_t>(setup.settings.find("overlap")->second);
  return {{.kind = Kind::push,
           .most_bytes = d * sizeof(float),
           .fits = fits,
           .most_waiting = 2 * (setup.peers + overlap + 2),
           .keeps = Keeps::queue}};
}

std::string objection(const Setup& setup, const MixingMatrix* w) {
  if (setup.local_steps != 1) return "sgp pushes every step: train.local_steps must be 1";
  if (w == nullptr || w->directed()) return "";
  return "sgp is for directed graphs, and this topology is undirected: take `exponential`, or "
         "d-psgd";
}

}  // namespace

extern const AlgorithmRow sgp_row{
    .kind = "sgp",
    .run = sgp,
    .mixes = true,
    .channels = channels,
    .options = options,
    .objection = objection,
    .promise = Promise::push_sum,
    .summary = "each peer divides its mass and weight among its receivers; arXiv:1811.10792"};

}  // namespace gv
