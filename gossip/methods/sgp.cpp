#include <algorithm>

#include "gossip/registry.h"
#include "gossip/steps/pushes.h"

// Stochastic gradient push. Assran, Loizou, Ballas & Rabbat, "Stochastic gradient push for
// distributed deep learning", ICML 2019, arXiv:1811.10792, Algorithm 1; with `overlap` tau,
// Algorithm 2: pushes of round t count in round t + tau, or when they come. On directed graphs,
// whatever their degrees (`weights: push-sum`). A peer holds a mass u and a weight w, and divides
// both evenly among itself and its receivers; its model is x = u / w. Messages carry x and its
// weight, so that a codec rounds a model, whatever its weight: the fp16 mass of a peer that had
// long received nothing would be zeros while its weight still travelled, and its model would double
// in each round. The sums of u and of w over the fleet, including messages under way, are constant:
// a late push counts when it comes. Messages under way to a peer that dies are lost, in u and in w
// alike, and so are messages that a checkpoint finds under way. Memory of a peer: 3 vectors. Per
// round and peer: out-degree messages of 4 d bytes.

namespace gv {
namespace {

constexpr Option sgp_options[] = {
    {.name = "overlap",
     .usual = 0,
     .least = 0,
     .most = 100,
     .whole = true,
     .help = "maximum number of rounds that a push may be in flight, tau"}};

/// The mass u and the weight w of a peer, and room for what comes.
struct Mass {
  Vector u;
  Vector room;
  double& w;
};

Neighborhood row(const Peer& me, Round round) {
  return me.plan.schedule ? me.plan.schedule->row(round, me.plan.id) : me.plan.neighborhood;
}

/// x <- x - gamma g, and u moves by the same length, which moves u / w by gamma / w. A peer that
/// has long received nothing has less weight than undisturbed rounds ever leave it: below a
/// quarter of that weight it takes smaller steps, of at most 4 gamma over that weight. At or above
/// it u takes the whole step, even if the graph gives the peer a small weight: otherwise the
/// fleet's mean would favour peers with more weight.
Task<> step(Peer& me, Mass mass) {
  const auto part = static_cast<float>(std::min(1.0, 4 * mass.w / me.plan.share));
  const Vector before = mass.room;
  co_await me.gradient();
  co_await me.copy(Vector::x, before);
  co_await me.step_local();
  co_await me.axpby(part, Vector::x, 1, mass.u);
  co_await me.axpby(-part, before, 1, mass.u);
}

/// x = u / w.
Task<> weigh(Peer& me, Mass mass) {
  co_await me.axpby(static_cast<float>(1 / mass.w), mass.u, 0, Vector::x);
}

/// Keeps the values that a codec left out, which would otherwise be given away: for each receiver u
/// keeps w times the difference of x and its decoding.
Task<> keep_the_rest(Peer& me, Payload sent, std::size_t receivers, Mass mass) {
  const Range all{0, me.replica.size()};
  const auto given_away = static_cast<float>(mass.w * static_cast<double>(receivers));
  const Payload given = co_await me.snapshot(Vector::x, all);
  const Payload taken = co_await me.decode(sent, all.count, me.codec());
  co_await me.compute(4.0 * static_cast<double>(all.count),
                      [&] { me.replica.add_flow(mass.u, all, given_away, *given, *taken); });
}

/// A peer that receives nothing for long would divide its weight until nothing is left: below this
/// weight it gives nothing away.
constexpr double least_weight = 0x1p-40;

Task<> push(Peer& me, Pushes& pushes, Mass mass) {
  me.keep_company();
  std::vector<PeerId> receivers = row(me, me.clock()).receivers;
  std::erase_if(receivers, [&](PeerId j) { return !me.here(j); });
  if (mass.w < least_weight) {
    pushes.send_nothing(receivers);
    co_return;
  }
  const double share = 1.0 / (1.0 + static_cast<double>(receivers.size()));
  co_await me.scale(mass.u, static_cast<float>(share));
  mass.w = static_cast<double>(static_cast<float>(mass.w * share));  // as it travels
  co_await weigh(me, mass);
  const Payload sent = co_await pushes.send(receivers, Vector::x, mass.w);
  if (me.codec()) co_await keep_the_rest(me, sent, receivers.size(), mass);
}

/// Returns whether a number can be a weight: it comes from another peer's division, so it is in (0,
/// n]. 0: nothing was given.
bool is_weight(double number, PeerId peers) {
  return number > 0 && number <= peers;
}

Task<> take(Peer& me, Pushes& pushes, Round until, Mass mass) {
  while (const auto taken = pushes.take(until)) {
    if (!is_weight(*taken->push.number, me.plan.setup->peers)) continue;
    const Payload model = co_await sound(me, taken->from, taken->push.vector);
    if (!model) continue;
    co_await me.load(mass.room, {0, me.replica.size()}, model);
    co_await me.axpby(static_cast<float>(*taken->push.number), mass.room, 1, mass.u);
    mass.w += *taken->push.number;
  }
}

/// Takes the pushes of round `until`, and all late ones.
Task<> hear(Peer& me, Pushes& pushes, Round until, Mass mass) {
  const std::vector<PeerId> senders = row(me, until).peers;
  const std::vector<PeerId> receivers = row(me, me.clock()).receivers;
  for (bool all = false; !all;) {
    all = co_await pushes.hear(senders, until, receivers);
    co_await take(me, pushes, until, mass);
  }
}

/// The mass of the last rounds, which is still under way, is part of the fleet's model.
Task<> settle(Peer& me, Pushes& pushes, Round overlap, Mass mass) {
  const Round over = me.clock();
  for (Round until = over - std::min(over, overlap); until < over; ++until)
    co_await hear(me, pushes, until, mass);
}

/// Returns the rounds along the longest way round to us, with a round and the overlap at each hop.
std::uint32_t sgp_ahead(const Setup& setup) {
  return setup.peers * (1 + static_cast<std::uint32_t>(setup.settings.find("overlap")->second)) + 1;
}

Task<> sgp(Peer& me) {
  const Mass mass{me.vector("mass"), me.vector("before"), me.replica.scalar("weight")};
  if (mass.w == 0) {
    co_await me.copy(Vector::x, mass.u);
    mass.w = 1;
  }
  Pushes pushes(me, sgp_ahead(*me.plan.setup));
  const auto overlap = static_cast<Round>(me.number("overlap"));
  for (; me.running(); co_await me.end_round()) {
    co_await step(me, mass);
    co_await push(me, pushes, mass);
    if (me.clock() >= overlap) co_await hear(me, pushes, me.clock() - overlap, mass);
    co_await weigh(me, mass);
  }
  if (overlap == 0) co_return;
  co_await settle(me, pushes, overlap, mass);
  co_await weigh(me, mass);
}

std::vector<Channel> sgp_channels(const Setup& setup, std::size_t d) {
  return push_channels(setup, d, sgp_ahead(setup));
}

std::string sgp_objection(const Setup& setup, const MixingMatrix* w) {
  if (setup.local_steps != 1) return "sgp pushes every step: train.local_steps must be 1";
  if (w == nullptr || w->directed()) return "";
  return "sgp needs no W, and this undirected topology has one: take `weights: push-sum`, a "
         "directed graph such as `exponential`, or `d-psgd`";
}

}  // namespace

extern const AlgorithmRow sgp_row{
    .kind = "sgp",
    .run = sgp,
    .mixes = true,
    .codecs = Codecs::dense,
    .channels = sgp_channels,
    .options = sgp_options,
    .objection = sgp_objection,
    .program = split_steps,
    .promise = Promise::push_sum,
    .by_coordinate = true,
    .summary = "each peer divides its mass and weight among its receivers; arXiv:1811.10792"};

}  // namespace gv
