#include "gossip/succession.h"

#include <algorithm>
#include <set>

namespace gv {
namespace {

constexpr std::uint32_t model_part = 2;

}  // namespace

Served::Served(Peer& me) : me_(me), beside_(me.world, look_after()) {}

/// Greets the servers until nothing is new: each time a server's place is taken, and at the end.
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

/// A new process gets the model, and then what the one before it has not answered.
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

/// The server's part of x. Nothing: it is gone, and so is the fleet's model.
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
  Round newest = me.round;    // of a model
  Round furthest = me.round;  // of anything
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
  pushes.fits = [=, n = setup.peers, vector = pushes.fits](
                    PeerId from, std::uint32_t part, std::size_t bytes) {
    if (part != model_part) return vector(from, part, bytes);
    return from < n && (bytes == longest || bytes == shortest);
  };
  return both;
}

}  // namespace gv
