#include "gossip/servers/servers.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "gossip/servers/robust_rules.h"
#include "gossip/sums/norms.h"

namespace gv {
namespace {

std::vector<PeerId> ids(PeerId first, PeerId count) {
  std::vector<PeerId> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

bool may_come(const Peer& me, PeerId i, const std::set<PeerId>& heard) {
  return may_push(me, i) && !heard.contains(i);
}

bool more_may_come(const Peer& me, const std::set<PeerId>& heard) {
  return std::ranges::any_of(trainers(*me.plan.setup),
                             [&](PeerId i) { return may_come(me, i, heard); });
}

/// Returns the first waiting push, or else the next one that comes.
Task<Next> next_push(Peer& me, std::deque<Message>& waiting, const std::set<PeerId>& heard) {
  const Post::Awaited awaited = [&](PeerId i) { return may_come(me, i, heard); };
  if (waiting.empty()) co_return co_await me.next(Kind::push, me.plan.deadline, awaited);
  Next next{.message = std::move(waiting.front())};
  waiting.pop_front();
  co_return next;
}

constexpr std::uint32_t model_part = 2;

}  // namespace

std::vector<PeerId> trainers(const Setup& setup) {
  return ids(0, setup.peers);
}

std::vector<PeerId> servers(const Setup& setup) {
  return ids(setup.peers, setup.servers);
}

OptimizerSpec servers_optimizer(OptimizerSpec usual, const Setup& setup, PeerId i) {
  const double chosen = setup.settings.find("optimizer")->second;
  if (i < setup.peers || chosen == 0) return usual;
  usual.kind = server_optimizers[static_cast<std::size_t>(chosen)];
  usual.momentum = 0;
  usual.nesterov = false;
  return usual;
}

std::string optimizer_objection(const Setup& setup) {
  if (setup.settings.find("optimizer")->second == 0) return "";
  if (setup.optimizer.kind == "sgd" && setup.optimizer.momentum == 0) return "";
  return "the servers' `optimizer` takes the rate of train.optimizer, and no momentum or moments "
         "of "
         "it: take `train.optimizer: { kind: sgd }` without momentum";
}

PeerId count_servers(const Settings& settings) {
  return static_cast<PeerId>(settings.find("servers")->second);
}

Range shard(const Setup& setup, std::size_t d, PeerId server) {
  const std::size_t k = setup.servers;
  const std::size_t s = server - setup.peers;
  const std::size_t longer = d % k;
  return {s * (d / k) + std::min(s, longer), d / k + (s < longer ? 1 : 0)};
}

std::vector<PeerId> server_links(const Setup& setup, PeerId i) {
  return i < setup.peers ? servers(setup) : trainers(setup);
}

std::vector<Channel> server_channels(const Setup& setup, std::size_t d, Keeps pushes) {
  const std::size_t count = shard(setup, d, setup.peers).count;
  const std::size_t longest = payload_bytes(setup.codec, count);
  const std::size_t shortest = payload_bytes(setup.codec, d / setup.servers);
  const auto push = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
    return from < setup.peers && part == 0 && (bytes == longest || bytes == shortest);
  };
  const auto pull = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
    return from >= setup.peers && part == 0 &&
           bytes == payload_bytes(models_codec(setup), shard(setup, d, from).count);
  };
  return {
      {.kind = Kind::push, .most_bytes = longest, .fits = push, .keeps = pushes},
      {.kind = Kind::pull, .most_bytes = payload_bytes(models_codec(setup), count), .fits = pull}};
}

std::vector<Channel> queue_channels(const Setup& setup, std::size_t d) {
  return server_channels(setup, d, Keeps::queue);
}

std::vector<Channel> asking_channels(const Setup& setup, std::size_t d) {
  std::vector<Channel> both = queue_channels(setup, d);
  both[0].fits = [n = setup.peers, vector = both[0].fits](PeerId from, std::uint32_t part,
                                                          std::size_t bytes) {
    return part == 1 ? from < n && bytes == 0 : vector(from, part, bytes);
  };
  return both;
}

void ask(Peer& me) {
  for (const PeerId server : servers(*me.plan.setup)) me.send(server, Kind::push, nullptr, 1);
}

std::optional<Codec> models_codec(const Setup& setup) {
  return setup.codec && setup.codec->dense() ? setup.codec : std::nullopt;
}

Task<> push_parts(Peer& me, Vector v, std::function<void(PeerId, Payload)> send) {
  const std::optional<Codec> codec = me.codec();
  const bool leaves_out = codec && !codec->dense();
  const Vector owed = leaves_out ? me.vector("owed") : v;
  if (leaves_out) {
    co_await me.axpby(1, owed, 1, v);
    co_await me.copy(v, owed);
  }
  for (const PeerId server : servers(*me.plan.setup)) {
    const Range r = shard(*me.plan.setup, me.replica.size(), server);
    const Payload part = co_await me.encode(v, r, codec);
    send(server, part);
    if (!codec) continue;
    const Payload pushed = co_await me.decode(part, r.count, codec);
    co_await me.load(v, r, pushed);
  }
  if (leaves_out) co_await me.axpby(-1, v, 1, owed);
}

Task<> push(Peer& me, Vector v, std::uint64_t number) {
  const std::function<void(PeerId, Payload)> send = [&me, number](PeerId server, Payload part) {
    me.send(server, Kind::push, std::move(part), 0, number);
  };
  return push_parts(me, v, send);
}

Task<> take_part(Peer& me, Vector v, Message part) {
  const Setup& setup = *me.plan.setup;
  const Range r = shard(setup, me.replica.size(), part.from);
  const Payload floats = co_await me.decode(part.payload, r.count, models_codec(setup));
  co_await me.load(v, r, floats);
}

Task<std::optional<Round>> pull(Peer& me, Vector v, std::uint64_t number, std::uint32_t part) {
  Round newest = 0;
  for (const PeerId server : servers(*me.plan.setup)) {
    const std::optional<Message> came =
        co_await me.receive(server, Kind::pull, part, number, Absence::gone);
    if (!came) co_return std::nullopt;
    co_await take_part(me, v, *came);
    newest = std::max(newest, came->round);
  }
  co_return newest;
}

bool may_push(const Peer& me, PeerId i) {
  return me.expects(i) && !me.misbehaves(i);
}

bool someone_trains(const Peer& me) {
  return more_may_come(me, {});
}

bool more_pushes(const Peer& me) {
  return me.waiting(Kind::push) || someone_trains(me);
}

Range whole(const Peer& me) {
  return {0, me.replica.size()};
}

Task<Payload> model(Peer& me, Vector v) {
  return me.encode(v, whole(me), models_codec(*me.plan.setup));
}

void answer(Peer& me, const Message& push, Payload part) {
  if (push.life == me.life(push.from))
    me.send(push.from, Kind::pull, std::move(part), 0, push.number);
}

Task<> answer(Peer& me, const Message& push, Vector v) {
  const Payload part = co_await model(me, v);
  answer(me, push, part);
}

/// After deaths a worker may be a round ahead of a server, if another server gave it the round. Its
/// push then waits for its round. Counted in the present round it would be missing in its own, and
/// workers and servers would wait for each other in a circle.
Task<std::map<PeerId, Message>> collect(Peer& me, std::size_t most, std::deque<Message>& early) {
  std::map<PeerId, Message> pushes;
  std::deque<Message> ahead;
  std::set<PeerId> heard;
  while (pushes.size() < most && (!early.empty() || more_may_come(me, heard))) {
    Next next = co_await next_push(me, early, heard);
    if (next.late && !heard.empty()) break;
    if (!next.message || next.message->part != 0) continue;
    if (next.message->number > me.plan.rounds) continue;  // no such round
    Message push = std::move(*next.message);
    if (push.number < me.round) {
      co_await answer(me, push, Vector::x);
      continue;
    }
    heard.insert(push.from);
    if (push.number > me.round) {
      ahead.push_back(std::move(push));
      continue;
    }
    const Payload floats = co_await sound(me, push.from, push.payload);
    push.payload = floats;
    pushes.insert_or_assign(push.from, std::move(push));
  }
  std::ranges::move(ahead, std::back_inserter(early));
  if (!pushes.empty() || early.empty()) co_return pushes;
  me.go_on_in(std::ranges::min(early, {}, &Message::number).number);
  co_return co_await collect(me, most, early);
}

Task<std::map<PeerId, Message>> collect(Peer& me, std::size_t most) {
  std::deque<Message> early;
  co_return co_await collect(me, most, early);
}

Task<> shorten(Peer& me, std::map<PeerId, Message>& pushes, Payload from) {
  if (!clips_sums(me)) co_return;
  std::map<PeerId, Payload> came;
  for (const auto& [peer, push] : pushes) came[peer] = push.payload;
  co_await shorten(me, came, std::move(from));
  for (auto& [peer, push] : pushes) push.payload = came[peer];
}

Task<std::size_t> sum(Peer& me, Vector v, const std::map<PeerId, Message>& pushes) {
  std::size_t count = 0;
  for (const auto& [peer, push] : pushes) {
    if (!push.payload) continue;
    if (count == 0) co_await me.load(v, whole(me), push.payload);
    if (count > 0) co_await me.add(v, whole(me), push.payload);
    ++count;
  }
  co_return count;
}

Task<double> weighted_sum(Peer& me,
                          Vector v,
                          const std::map<PeerId, Payload>& came,
                          const std::map<PeerId, double>& weights) {
  const Vector theirs = me.vector("theirs");
  double sum = 0;
  for (const auto& [peer, floats] : came) {
    if (!floats) continue;
    const double own = weights.at(peer);
    co_await me.load(theirs, whole(me), floats);
    co_await me.axpby(static_cast<float>(own), theirs, sum > 0 ? 1 : 0, v);
    sum += own;
  }
  co_return sum;
}

namespace {

/// v <- the mean of the pushes that count, or the fleet's other aggregate (robust_rules.h). Returns
/// false if none counts.
Task<bool> combine(Peer& me, Vector v, std::map<PeerId, Message> pushes) {
  if (aggregate_of(*me.plan.setup) != Aggregate::mean) {
    std::map<PeerId, Payload> came;
    for (const auto& [worker, push] : pushes) came[worker] = push.payload;
    co_return co_await aggregate(me, v, std::move(came));
  }
  const std::size_t count = co_await sum(me, v, pushes);
  if (count > 0) co_await me.scale(v, 1.0F / static_cast<float>(count));
  co_return count > 0;
}

}  // namespace

Task<> serve_mean(Peer& me, std::size_t most) {
  std::deque<Message> early;
  if (me.plan.rejoins) co_await take_over(me, early);
  for (; me.running(); co_await me.end_round()) {
    std::map<PeerId, Message> pushes = co_await collect(me, most, early);
    if (pushes.empty() && early.empty()) co_return;  // all workers have left
    co_await shorten(me, pushes);
    const bool some = co_await combine(me, Vector::g, pushes);
    if (some) co_await me.step_local();
    const Payload x = co_await model(me, Vector::x);
    for (const auto& [worker, push] : pushes) answer(me, push, x);
  }
}

Task<> count(Peer& me, double gradients) {
  const double round = me.plan.setup->peers;
  double& counted = me.replica.scalar("gradients");
  counted += gradients;
  while (counted >= round) {
    counted -= round;
    co_await me.end_round();
  }
}

Served::Served(Peer& me) : me_(me), beside_(me.world, look_after()) {}

/// Greets the servers until nothing is new: after each replacement of a server, and at the end.
Task<> Served::look_after() {
  for (const PeerId id : servers(*me_.plan.setup)) servers_[id].holds = me_.round;
  while (!ending_) {
    bool news = false;
    for (auto& [id, server] : servers_) {
      const bool greeted = co_await greet(id, server);
      news = news || greeted;
    }
    if (!news && !ending_) co_await me_.idle(Kind::push);
  }
}

/// A new process gets the model, and then the push that the one before it has not answered.
Task<bool> Served::greet(PeerId id, Server& server) {
  const std::uint64_t life = me_.life(id);
  if (server.life == life) co_return false;
  const Range part = shard(*me_.plan.setup, me_.replica.size(), id);
  const Payload x = co_await me_.snapshot(Vector::x, part);
  if (life != me_.life(id)) co_return true;
  server.life = life;
  me_.send(id, Kind::push, x, model_part, server.holds);
  if (server.pushed) me_.send(id, Kind::push, server.pushed);
  co_return true;
}

Task<> Served::push(Vector v) {
  const std::function<void(PeerId, Payload)> send = [this](PeerId id, const Payload& part) {
    Server& server = servers_.at(id);
    server.pushed = part;
    if (server.life == me_.life(id)) me_.send(id, Kind::push, part);
  };
  co_await push_parts(me_, v, send);
}

/// Returns the server's part of x. Nothing if the server has gone, and the fleet's model with it.
Task<std::optional<Message>> Served::pull_of(PeerId id, Server& server) {
  while (true) {
    const std::uint64_t life = me_.life(id);
    std::optional<Message> part =
        co_await me_.receive(id, Kind::pull, 0, me_.round, Absence::vacant);
    if (part) {
      server.pushed = nullptr;
      co_return part;
    }
    const bool succeeded = co_await me_.succeeded(id, life);
    if (!succeeded) co_return std::nullopt;
  }
}

Task<std::optional<Round>> Served::pull() {
  Round newest = 0;
  for (auto& [id, server] : servers_) {
    const std::optional<Message> part = co_await pull_of(id, server);
    if (!part) co_return std::nullopt;
    co_await take_part(me_, Vector::x, *part);
    server.holds = std::max(me_.round + 1, part->round);
    newest = std::max(newest, part->round);
  }
  co_return newest;
}

Task<> Served::end() {
  ending_ = true;
  me_.wake();
  co_await beside_.join();
}

Task<> take_over(Peer& me, std::deque<Message>& early) {
  std::set<PeerId> heard;
  Round newest = me.round;    // newest round of a model
  Round furthest = me.round;  // newest round of any push
  const Post::Awaited awaited = [&](PeerId i) { return may_push(me, i) && !heard.contains(i); };
  while (std::ranges::any_of(trainers(*me.plan.setup), awaited)) {
    Next next = co_await me.next(Kind::push, me.plan.deadline, awaited);
    if (next.late && !heard.empty()) break;
    if (!next.message || next.message->number > me.plan.rounds) continue;
    const Message came = std::move(*next.message);
    heard.insert(came.from);
    furthest = std::max(furthest, came.number);
    if (came.part != model_part) early.push_back(came);
    if (came.part != model_part || came.number <= newest) continue;
    const Payload x = co_await sound(me, came.from, came.payload, std::nullopt);
    if (!x) continue;
    co_await me.load(Vector::x, whole(me), x);
    newest = came.number;
  }
  me.go_on_in(furthest);
}

std::vector<Channel> succession_channels(const Setup& setup, std::size_t d) {
  std::vector<Channel> both = queue_channels(setup, d);
  Channel& pushes = both[0];
  const std::size_t longest = shard(setup, d, setup.peers).count * sizeof(float);
  const std::size_t shortest = d / setup.servers * sizeof(float);
  pushes.most_bytes = std::max(pushes.most_bytes, longest);
  pushes.most_waiting = 4;  // a push, the model and the push again, and the next
  pushes.fits = [=, n = setup.peers, vector = pushes.fits](PeerId from, std::uint32_t part,
                                                           std::size_t bytes) {
    if (part != model_part) return vector(from, part, bytes);
    return from < n && (bytes == longest || bytes == shortest);
  };
  return both;
}

PeerId draws(const Setup& setup) {
  const double fraction = setup.settings.find("fraction")->second;
  return std::max<PeerId>(1, static_cast<PeerId>(fraction * setup.peers + 1e-9));
}

std::vector<PeerId> drawn(const Setup& setup, Round round) {
  std::vector<PeerId> all = trainers(setup);
  const PeerId count = draws(setup);
  Rng rng = Rng(setup.seed).derive("fedavg").derive(round);
  for (PeerId k = 0; k < count; ++k) std::swap(all[k], all[k + rng.below(setup.peers - k)]);
  all.resize(count);
  std::ranges::sort(all);
  return all;
}

Task<std::optional<Message>> Talks::answer_of(PeerId worker) {
  Talk& talk = talks_[worker];
  std::optional<Message> push =
      co_await me_.receive(worker, Kind::push, 0, talk.number, Absence::lost);
  if (push) talk = {.number = talk.number + 1};
  co_return push;
}

Task<std::vector<PeerId>> Talks::ask_drawn(Payload x) {
  std::vector<PeerId> asked;
  for (const bool patient : {false, true}) {
    for (const PeerId peer : drawn(*me_.plan.setup, me_.round)) {
      Talk& talk = talks_[peer];
      const bool answered = me_.arrived(peer, Kind::push, 0, talk.number) != nullptr;
      if (talk.open && (answered || patient)) co_await answer_of(peer);
      if (talk.open || !me_.expects(peer)) continue;
      me_.send(peer, Kind::pull, x, 0, talk.number);
      talk.open = true;
      asked.push_back(peer);
    }
    if (!asked.empty()) break;
  }
  co_return asked;
}

Task<std::map<PeerId, Payload>> Talks::answers_of(std::vector<PeerId> asked) {
  std::map<PeerId, Payload> answers;
  for (const PeerId peer : asked) {
    const std::optional<Message> push = co_await answer_of(peer);
    if (!push) continue;  // the others' pushes count
    answers[peer] = co_await sound(me_, peer, push->payload);
  }
  co_return answers;
}

}  // namespace gv
