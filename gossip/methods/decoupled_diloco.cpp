#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "gossip/objections.h"
#include "gossip/registry.h"
#include "gossip/servers/servers.h"
#include "gossip/steps/steps.h"
#include "gossip/sums/norms.h"
#include "optim/host/dot.h"

// Decoupled DiLoCo. Douillard, Rush, Donchev, Charles et al., "Decoupled DiLoCo for resilient
// distributed pre-training", 2026, arXiv:2604.21428: a synchronizer takes DiLoCo's outer step along
// the moves of the peers that are there, at least K (`quorum`), and of peers that come within a
// grace window after the K-th; a later part counts in a later round. Parts are weighted by the data
// that they were trained on, w_i = tokens_i (tokens_i / steps_i), Delta = sum w_i Delta_i / sum
// w_i; with `merge: radial` Delta has the mean length of the parts and the direction of the mean of
// their directions. During this a peer takes tau more inner steps (`delay`).
// Our servers are the synchronizer, each for its part of the model. The first one announces whose
// parts a round takes: if each server decided alone, three servers could keep three peers waiting
// in a circle.
// Deviations: a peer that has taken `delay` steps waits for the answer, while the paper's never
// waits. So a part always has train.local_steps steps, its weight follows from the fleet file so
// that no peer can lie about it, and with a quorum of all peers no bit depends on who was slow. The
// steps taken during the wait stay, and count in the peer's next part. The grace window is `grace`
// times the time that the quorum took; in the paper it is the time that its network leaves free.
// The whole model travels at once, not one fragment of many; and `radial` is by server, not by
// tensor. With the quorum of all peers, no delay and equal weights it is DiLoCo. Memory of a peer:
// 2 vectors, 3 with a delay. Per round and peer: 4 d bytes each way.

namespace gv {
namespace {

constexpr std::string_view merges[] = {"mean", "radial"};

constexpr Option decoupled_diloco_options[] = {
    servers_option,
    {.name = "quorum",
     .usual = 0,
     .least = 0,
     .most = 1e6,
     .whole = true,
     .help = "minimum number of peers whose parts make an outer step, K; 0: all"},
    {.name = "grace",
     .usual = 0.25,
     .least = 0,
     .most = 100,
     .help = "extra wait for the other peers, as a multiple of the time that the quorum took"},
    {.name = "delay",
     .usual = 0,
     .least = 0,
     .most = 1e6,
     .whole = true,
     .help =
         "number of inner steps that a peer takes before it waits for the answer to its part, tau"},
    {.name = "merge",
     .usual = 0,
     .least = 0,
     .most = 1,
     .whole = true,
     .help = "rule that merges the parts; radial: averages directions and lengths separately",
     .words = merges},
    outer_lr_option(0.7),
    outer_momentum_option};

/// Takes the inner steps of a round. Before the last `delay` steps it sends the peer's part: the
/// move since `theta`, the servers' model.
Task<> train(Peer& me, Vector theta, std::uint32_t delay) {
  const Vector moved = me.vector("moved");
  const std::uint32_t steps = me.plan.local_steps;
  for (std::uint32_t k = 0; k <= steps; ++k) {
    if (k == steps - delay) {
      co_await me.copy(Vector::x, moved);
      co_await me.axpby(-1, theta, 1, moved);
      if (delay > 0) co_await me.copy(Vector::x, me.vector("as given"));
      co_await push(me, moved);
    }
    if (k < steps) co_await me.plain_step();
  }
}

/// A successor of a dead process first asks for the model, for a round. A late peer continues in
/// the round of its servers.
Task<> decoupled_diloco_work(Peer& me) {
  const Vector theta = me.vector("theta");
  const auto delay = static_cast<std::uint32_t>(me.number("delay"));
  if (me.round == 0) co_await me.copy(Vector::x, theta);
  bool gives = !me.plan.rejoins;
  for (; me.running(); co_await me.end_round()) {
    if (gives) co_await train(me, theta, delay);
    if (!gives) ask(me);
    const std::optional<Round> theirs = co_await pull(me, theta);
    if (!theirs) co_return;
    const bool moved_on = std::exchange(gives, true) && delay > 0;
    if (moved_on) co_await me.axpby(-1, me.vector("as given"), 1, Vector::x);
    co_await me.axpby(1, theta, moved_on ? 1 : 0, Vector::x);
    if (*theirs > me.round) me.round = std::min(*theirs, me.plan.rounds) - 1;
  }
}

using Parts = std::map<PeerId, Message>;
/// A server's record of parts under way to it: at most one of each peer.
struct Desk {
  Parts here;  ///< parts that have counted in no round yet
  /// The life of each peer whose part the first server has counted and that did not come in time
  /// here: the part no longer counts, and is only answered.
  std::map<PeerId, std::uint64_t> missed;
};
/// Returns whether a peer's part is missing.
using Missing = std::function<bool(PeerId)>;

bool more_may_come(const Peer& me, const Missing& missing) {
  return me.waiting(Kind::push) || std::ranges::any_of(trainers(*me.plan.setup), missing);
}

/// Receives one more part, or learns that a peer is gone. Returns false if neither came in the time
/// `most`.
Task<bool> hear(Peer& me, Desk& desk, const Missing& missing, Time most) {
  Next next = co_await me.next(Kind::push, most, missing);
  if (!next.message) co_return !next.late;
  Message part = std::move(*next.message);
  const auto missed = desk.missed.find(part.from);
  const bool late = missed != desk.missed.end() && missed->second == part.life;
  desk.missed.erase(part.from);
  if (late) co_await answer(me, part, Vector::x);
  if (!late) desk.here.insert_or_assign(part.from, std::move(part));
  co_return !next.late;
}

std::size_t quorum_of(const Setup& setup) {
  const auto given = static_cast<std::size_t>(setup.settings.find("quorum")->second);
  return given == 0 ? setup.peers : given;
}

/// Announces a number for each peer: 1 if it counts in this round, else 0.
void tell(Peer& me, const Parts& here) {
  const Setup& setup = *me.plan.setup;
  const auto counts = me.pool().acquire(setup.peers * sizeof(float));
  for (PeerId i = 0; i < setup.peers; ++i) counts->floats()[i] = here.contains(i) ? 1 : 0;
  for (const PeerId server : servers(setup))
    if (server != me.plan.id) me.send(server, Kind::gather, counts);
}

/// Waits for a quorum, of as many peers as are left, and for those that come soon after.
Task<std::set<PeerId>> gather(Peer& me, Desk& desk) {
  const Parts& here = desk.here;
  const Missing missing = [&](PeerId i) { return may_push(me, i) && !here.contains(i); };
  const std::size_t quorum = quorum_of(*me.plan.setup);
  const Time began = me.world.now();
  while (here.size() < quorum && more_may_come(me, missing)) {
    const bool in_time = co_await hear(me, desk, missing, me.plan.deadline);
    if (!in_time && !here.empty()) break;
  }
  const auto took = static_cast<double>((me.world.now() - began).count());
  const Time until = me.world.now() + Time(std::llround(me.number("grace") * took));
  while (more_may_come(me, missing) && (me.waiting(Kind::push) || me.world.now() < until))
    co_await hear(me, desk, missing, until - me.world.now());
  tell(me, here);
  std::set<PeerId> chosen;
  for (const auto& [peer, part] : here) chosen.insert(peer);
  co_return chosen;
}

/// Waits for the parts that the first server has announced, as long as they may come.
Task<std::set<PeerId>> follow(Peer& me, Desk& desk) {
  std::set<PeerId> chosen;
  const std::optional<Message> told = co_await me.receive(me.plan.setup->peers, Kind::gather);
  if (!told) co_return chosen;
  for (PeerId i = 0; i < me.plan.setup->peers; ++i)
    if (told->payload->floats()[i] != 0) chosen.insert(i);
  const Missing missing = [&](PeerId i) {
    return chosen.contains(i) && may_push(me, i) && !desk.here.contains(i);
  };
  bool in_time = true;
  while (in_time && (me.waiting(Kind::push) || std::ranges::any_of(chosen, missing)))
    in_time = co_await hear(me, desk, missing, me.plan.deadline);
  for (const PeerId i : chosen)
    if (!desk.here.contains(i)) desk.missed[i] = me.life(i);
  co_return chosen;
}

/// Returns the peers that count in this round; none if no more will come.
Task<std::set<PeerId>> choose(Peer& me, Desk& desk) {
  return me.plan.id == me.plan.setup->peers ? gather(me, desk) : follow(me, desk);
}

/// Returns the samples that a peer takes in a step, if they are counted.
double tokens_of_step(const Setup& setup, PeerId i) {
  if (i >= setup.samples.size() || setup.epochs[i] == 0) return 1;
  return static_cast<double>(setup.samples[i]) / static_cast<double>(setup.epochs[i]);
}

double weight_of(const Setup& setup, PeerId i) {
  const double tokens = setup.steps_of(i) * tokens_of_step(setup, i);
  return tokens * tokens / setup.steps_of(i);
}

/// Divides each weight by the length of the peer's part, and returns the weighted sum of lengths.
double take_lengths(const std::map<PeerId, Payload>& came, std::map<PeerId, double>& weights) {
  constexpr double shortest = 1e-20;  // shorter parts have no direction
  double sum = 0;
  for (auto& [peer, weight] : weights) {
    const std::span<const float> floats = came.at(peer)->floats();
    const double length = std::sqrt(dot(floats, floats));
    sum += weight * length;
    weight = length > shortest ? weight / length : 0;
  }
  return sum;
}

/// Takes the outer step along the weighted parts, -Delta. Directions that cancel have no mean, and
/// nothing moves.
Task<> step_along(Peer& me, std::map<PeerId, Payload> came) {
  constexpr double least = 1e-6;  // a shorter mean of directions is mere rounding
  const bool radial = me.number("merge") != 0;
  const Vector delta = me.vector("outer gradient");
  std::map<PeerId, double> weights;
  double sum = 0;
  for (const auto& [peer, floats] : came)
    if (floats) sum += weights[peer] = weight_of(*me.plan.setup, peer);
  if (sum == 0) co_return;
  double length = 0;
  if (radial)
    co_await me.compute(2.0 * static_cast<double>(me.replica.size() * came.size()),
                        [&] { length = take_lengths(came, weights); });
  co_await weighted_sum(me, delta, came, weights);
  double factor = 1 / sum;
  if (radial) {
    const double direction = co_await norm_of(me, delta);
    factor = direction > least * sum ? length / sum / direction : 0;
  }
  co_await me.scale(delta, static_cast<float>(-factor));
  co_await outer_step(me, delta, me.vector("outer momentum"));
}

Task<> decoupled_diloco_serve(Peer& me) {
  Desk desk;
  for (; me.running(); co_await me.end_round()) {
    const std::set<PeerId> chosen = co_await choose(me, desk);
    if (chosen.empty()) co_return;
    Parts parts;
    for (const PeerId i : chosen) parts.insert(desk.here.extract(i));
    std::map<PeerId, Payload> came;
    for (const auto& [peer, part] : parts)  // without a payload the message asks for the model
      if (part.payload) came[peer] = co_await sound(me, peer, part.payload);
    co_await shorten(me, came);
    co_await step_along(me, came);
    const Payload x = co_await model(me, Vector::x);
    for (const auto& [peer, part] : parts) answer(me, part, x);
  }
}

/// Servers have links to each other, too.
std::vector<PeerId> links(const Setup& setup, PeerId i) {
  std::vector<PeerId> all = server_links(setup, i);
  if (i < setup.peers) return all;
  for (const PeerId server : servers(setup))
    if (server != i && (i == setup.peers || server == setup.peers)) all.push_back(server);
  return all;
}

/// The first server is at most as many rounds ahead of another as there are peers whose parts wait.
std::vector<Channel> decoupled_diloco_channels(const Setup& setup, std::size_t d) {
  std::vector<Channel> all = asking_channels(setup, d);
  const std::size_t bytes_told = setup.peers * sizeof(float);
  const auto told = [=, first = setup.peers](PeerId from, std::uint32_t part, std::size_t bytes) {
    return from == first && part == 0 && bytes == bytes_told;
  };
  all.push_back({.kind = Kind::gather,
                 .most_bytes = bytes_told,
                 .fits = told,
                 .most_waiting = setup.peers + 1});
  return all;
}

std::string decoupled_diloco_objection(const Setup& setup, const MixingMatrix*) {
  if (quorum_of(setup) > setup.peers)
    return "`quorum` asks for more parts than there are peers: take " +
           std::to_string(setup.peers) + " at most, or 0 for all";
  return objection_to_delay(setup, "decoupled-diloco");
}

}  // namespace

extern const AlgorithmRow decoupled_diloco_row{
    .kind = "decoupled-diloco",
    .run = decoupled_diloco_work,
    .serve = decoupled_diloco_serve,
    .servers = count_servers,
    .codecs = Codecs::all,
    .links = links,
    .channels = decoupled_diloco_channels,
    .options = decoupled_diloco_options,
    .objection = decoupled_diloco_objection,
    .clips_sums = true,
    .program = whole_steps,
    .promise = Promise::once,
    .summary =
        "DiLoCo whose servers wait for a quorum, and a while for the others; "
        "arXiv:2604.21428"};

}  // namespace gv
