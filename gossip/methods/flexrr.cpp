#include <algorithm>
#include <cmath>

#include "gossip/registry.h"
#include "gossip/seam/task.h"
#include "gossip/servers/servers.h"
#include "gossip/sums/norms.h"
#include "gossip/supply.h"
#include "optim/host/dot.h"

// FlexRR. Harlap, Cui, Dai, Wei, Ganger, Gibbons, Gibson & Xing, "Addressing the straggler problem
// for iterative convergent parallel ML", SoCC 2016: a worker that has finished its share of a round
// offers the others its time, and a slow one hands it samples of its own. Here a minibatch is cut
// into slices; a worker that gets an offer hands over half of the slices that it has not begun. The
// helper returns their gradients. Each worker adds the gradients of its own samples in order,
// whichever peer computed them, so the bits do not depend on which peer was slow. Otherwise it is a
// synchronous parameter server. Per round and worker: k messages of 4 d / k bytes each way, n - 1
// without a payload, and per slice that is handed over its samples and 4 d bytes back.

namespace gv {
namespace {

constexpr Option flexrr_options[] = {
    servers_option,
    {.name = "slices",
     .usual = 8,
     .least = 1,
     .most = 1000,
     .whole = true,
     .help = "number of slices of a minibatch, each computed by one worker"}};

std::uint32_t slices_of(const Setup& setup) {
  return static_cast<std::uint32_t>(setup.settings.find("slices")->second);
}

constexpr Round longest_pause = 64;

/// A worker's record of whether help pays. If it has waited longer for help than its own work would
/// have taken, it takes none for one round, then for three, and so on.
struct Benefit {
  Time slice{0};  ///< recent duration of a slice of its own
  Round pause = 0, paused = 0;

  bool expected() const { return paused >= pause; }
  void learn(std::size_t helped, Time waited) {
    if (!expected()) {
      ++paused;
    } else if (helped > 0) {
      const bool pays = waited <= static_cast<int>(helped) * slice;
      pause = pays ? 0 : std::min(2 * pause + 1, longest_pause);
      paused = 0;
    }
  }
};

/// A worker's minibatch of this round.
struct Work {
  std::vector<Slice> slices;
  std::size_t end = 0;                    ///< slices from here on are handed over
  std::map<std::size_t, PeerId> helpers;  ///< helpers of slices from `end` on
  double longest = 0;  ///< longest gradient of a slice of our own, in a fleet that clips

  /// Returns false for a gradient much longer than our own, which is then computed again: an honest
  /// helper has lost its time, and a liar has gained nothing.
  bool believes(std::span<const float> gradient, bool clips) const {
    constexpr double most = 3;
    return all_finite(gradient) && (!clips || std::sqrt(dot(gradient, gradient)) <= most * longest);
  }
};

/// Gives half of the slices not yet begun to a peer that has time in this round.
Task<> hand_over(Peer& me, Work& work, std::size_t begun, bool helpful) {
  while (me.waiting(Kind::ready)) {
    const Next next = co_await me.next(Kind::ready);
    if (!next.message || next.message->number != me.round) continue;
    const std::size_t left = helpful ? work.end - begun : 0;
    for (std::size_t k = 0; k < (left + 1) / 2; ++k) {
      const Payload samples = work.slices[--work.end].samples;
      work.helpers[work.end] = next.message->from;
      me.send(next.message->from, Kind::samples, samples, static_cast<std::uint32_t>(work.end));
    }
  }
}

Task<> add(Peer& me, const Slice& slice, Vector sum) {
  co_await me.axpby(static_cast<float>(slice.share), Vector::g, 1, sum);
}

/// A helper that is away, or no longer has time, has not done the slice.
Task<> collect_slice(Peer& me, const Work& work, std::size_t k) {
  const auto part = static_cast<std::uint32_t>(k);
  const std::optional<Message> done =
      co_await me.receive(work.helpers.at(k), Kind::reduce, part, Absence::away);
  if (done && done->payload && work.believes(done->payload->floats(), clips_sums(me))) {
    co_await me.load(Vector::g, whole(me), done->payload);
  } else {
    co_await me.gradient_over(work.slices[k]);
  }
}

/// sum <- the gradient of the next minibatch.
Task<> gradient_with_help(Peer& me, Vector sum, Benefit& help) {
  Work work;
  work.slices = co_await me.draw(slices_of(*me.plan.setup));
  work.end = work.slices.size();
  co_await me.scale(sum, 0);
  for (std::size_t k = 0; k < work.end; ++k) {
    co_await hand_over(me, work, k + 1, help.expected());
    const Time began = me.world.now();
    co_await me.gradient_over(work.slices[k]);
    co_await add(me, work.slices[k], sum);
    if (clips_sums(me)) {
      const double norm = co_await norm_of(me, Vector::g);
      work.longest = std::max(work.longest, norm);
    }
    help.slice = me.world.now() - began;
  }
  const Time done = me.world.now();
  for (std::size_t k = work.end; k < work.slices.size(); ++k) {
    co_await collect_slice(me, work, k);
    co_await add(me, work.slices[k], sum);
  }
  help.learn(work.helpers.size(), me.world.now() - done);
}

/// State shared by the two threads of a peer.
struct Helper {
  bool free = false;  ///< its own slices of this round are done, and g is for others
  bool ending = false;
};

/// Samples for a round that is over, or that came before this peer had time, are returned undone.
Task<> help_one(Peer& me, Message asked, const Helper& helper) {
  Payload gradient;
  if (helper.free && asked.number == me.round) gradient = co_await me.gradient_of(asked.payload);
  me.send(asked.from, Kind::reduce, gradient, asked.part, asked.number);
  if (!me.waiting(Kind::samples)) me.send(asked.from, Kind::ready, nullptr, 0, asked.number);
}

Task<> help(Peer& me, const Helper& helper) {
  while (!helper.ending) {
    const Next asked = co_await me.idle(Kind::samples);
    if (asked.message) co_await help_one(me, *asked.message, helper);
  }
}

void say_ready(Peer& me) {
  for (const PeerId peer : trainers(*me.plan.setup))
    if (peer != me.plan.id) me.send(peer, Kind::ready, nullptr);
}

/// Returns false if a server has gone.
Task<bool> one_round(Peer& me, Vector sum, Benefit& benefit, Helper& helper) {
  co_await gradient_with_help(me, sum, benefit);
  co_await push(me, sum);
  helper.free = true;
  say_ready(me);
  const std::optional<Round> theirs = co_await pull(me, Vector::x);
  helper.free = false;
  if (!theirs) co_return false;
  if (*theirs > me.round) me.round = std::min(*theirs, me.plan.rounds) - 1;
  co_return true;
}

Task<> flexrr(Peer& me) {
  const Vector sum = me.vector("gradient");
  Helper helper;
  Beside helping(me.world, help(me, helper));
  Benefit benefit;
  bool served = true;
  while (served && me.running()) {
    served = co_await one_round(me, sum, benefit, helper);
    if (served) co_await me.end_round();
  }
  helper.ending = true;
  me.wake();
  co_await helping.join();
}

Task<> flexrr_serve(Peer& me) {
  return serve_mean(me, me.plan.setup->peers);
}

/// Allows for one worker in two rounds, which is as far as two can be apart.
std::vector<Channel> flexrr_channels(const Setup& setup, std::size_t d) {
  std::vector<Channel> all = queue_channels(setup, d);
  const std::uint32_t slices = slices_of(setup);
  const std::size_t most = setup.most_samples_bytes;
  const auto worker = [n = setup.peers](PeerId from) { return from < n; };
  const auto ready = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
    return worker(from) && part == 0 && bytes == 0;
  };
  const auto samples = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
    return worker(from) && part < slices && bytes > 0 && bytes <= most;
  };
  const auto gradient = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
    return worker(from) && part < slices && (bytes == 0 || bytes == d * sizeof(float));
  };
  all.push_back({.kind = Kind::ready,
                 .fits = ready,
                 .most_waiting = 2 * (slices + 1),
                 .keeps = Keeps::queue});
  all.push_back({.kind = Kind::samples,
                 .most_bytes = most,
                 .fits = samples,
                 .most_waiting = 2 * slices,
                 .keeps = Keeps::queue});
  all.push_back({.kind = Kind::reduce,
                 .most_bytes = d * sizeof(float),
                 .fits = gradient,
                 .most_waiting = 2 * slices});
  return all;
}

std::vector<PeerId> links(const Setup& setup, PeerId i) {
  std::vector<PeerId> all = trainers(setup);
  if (i >= setup.peers) return all;
  std::erase(all, i);
  for (const PeerId server : servers(setup)) all.push_back(server);
  return all;
}

std::string flexrr_objection(const Setup& setup, const MixingMatrix*) {
  if (setup.local_steps == 1) return own_samples_objection(setup);
  return "the servers of flexrr take every gradient: train.local_steps must be 1";
}

/// Rounds with help and without help differ in length, and pauses end within this many rounds.
Round flexrr_period(const Setup&) {
  return longest_pause;
}

}  // namespace

extern const AlgorithmRow flexrr_row{
    .kind = "flexrr",
    .run = flexrr,
    .serve = flexrr_serve,
    .servers = count_servers,
    .codecs = Codecs::all,
    .links = links,
    .channels = flexrr_channels,
    .options = flexrr_options,
    .objection = flexrr_objection,
    .period = flexrr_period,
    .clips_sums = true,
    .hands_samples = true,
    .program =
        {.objection =
             "its gradients are over samples that other peers hand out: take `parameter-server`"},
    .promise = Promise::once,
    .summary = "idle workers take samples from slow ones, with servers; Harlap et al. 2016"};

}  // namespace gv
