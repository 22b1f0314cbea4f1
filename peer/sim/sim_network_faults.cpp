#include <algorithm>
#include <iterator>
#include <utility>

#include "peer/sim/sim_network.h"

// The faults of the simulated network: what goes wrong with connections, and a peer that lies.

namespace gv {

SimNetwork::Pair& SimNetwork::random_pair() {
  return std::next(pairs_.begin(), static_cast<std::ptrdiff_t>(injector_.below(pairs_.size())))
      ->second;
}

bool SimNetwork::reset(Pair& pair) {
  bool any = false;
  for (const std::weak_ptr<SimConnection>& each : std::exchange(pair.connections, {})) {
    const Link link = each.lock();
    if (!link || !link->ends[0].open || !link->ends[1].open) continue;
    any = true;
    injector_.note(now(), "is reset from", pair.a, pair.b);
    for (End& end : link->ends) {
      end.open = false;
      end.reset = true;
      end.held.clear();
      run_at(now(), *end.process, [&end, link] {
        if (end.process->connections_.erase(end.id) > 0)
          end.process->links().ended(end.id, "reset", end.process->now());
      });
    }
  }
  return any;
}

bool SimNetwork::cut_off(Pair& pair, Time length) {
  pair.blocked_until = std::max(pair.blocked_until, now() + length);
  return reset(pair);
}

bool SimNetwork::partition(Time length) {
  std::vector<bool> side(present_.size());
  for (std::size_t i = 0; i < side.size(); ++i) side[i] = injector_.below(2) == 1;
  bool any = false;
  for (auto& [ids, pair] : pairs_)
    if (side[pair.a] != side[pair.b]) any = cut_off(pair, length) || any;
  return any;
}

bool SimNetwork::stall(Pair& pair, int ways, Time length) {
  const std::size_t first = injector_.below(2);
  bool any = false;
  for (const std::weak_ptr<SimConnection>& each : pair.connections) {
    const Link link = each.lock();
    if (!link || !link->ends[0].open || !link->ends[1].open) continue;
    any = true;
    for (int way = 0; way < ways; ++way)
      stall(link, (first + static_cast<std::size_t>(way)) % 2, length);
  }
  return any;
}

void SimNetwork::stall(const Link& link, std::size_t from, Time length) {
  link->ends[from].stalled = true;
  shared_.queue.push(now() + length, [this, link, from] { end_stall(link, from); });
}

void SimNetwork::silence(PeerId from, PeerId to, Time length) {
  Pair& pair = pair_of(from, to);
  pair.blocked_until = std::max(pair.blocked_until, now() + length);
  for (const std::weak_ptr<SimConnection>& each : pair.connections)
    if (const Link link = each.lock()) stall(link, link->index_of(process(from)), length);
}

void SimNetwork::end_stall(const Link& link, std::size_t from) {
  link->ends[from].stalled = false;
  for (const Bytes& bytes : std::exchange(link->ends[from].held, {}))
    launch(link, from, bytes, false);
}

void SimNetwork::lie(PeerId peer, Lie lie) {
  SimCarrier& liar = process(peer);
  liar.lie_ = lie;
  injector_.note(now(), "begins to lie to", peer, peer, static_cast<std::uint64_t>(lie));
  if (lie != Lie::questions) return;
  constexpr int questions = 100;
  for (const PeerId neighbor : links_of(shared_.peers[peer]->plan)) {
    for (int k = 0; k < questions; ++k) {
      Message question;
      question.from = peer;
      question.kind = Kind::fetch;
      liar.links().send(neighbor, std::move(question), liar.now());
    }
  }
}

void SimNetwork::cut(PeerId a, PeerId b, Time length) {
  for (const auto& [self, other] : {std::pair{a, b}, std::pair{b, a}}) {
    if (!listens(self)) continue;
    SimCarrier& carrier = process(self);
    carrier.links().cut(other, carrier.now() + length, carrier.now());
  }
}

}  // namespace gv
