#include "gossip/supply.h"

#include <algorithm>
#include <optional>

#include "gossip/experience.h"
#include "gossip/peer.h"

// Training-data servers: peers that hold the training samples and hand out minibatches to peers
// that train, in the order in which each would have drawn them from its own share. Per gradient:
// one minibatch to the peer, and a question without a payload.

namespace gv {
namespace {

std::vector<PeerId> served_by(const Setup& setup, PeerId server) {
  std::vector<PeerId> all;
  for (PeerId i = 0; i < setup.peers; ++i)
    if (samples_server(setup, i) == server) all.push_back(i);
  return all;
}

bool someone_asks(const Peer& me, const std::vector<PeerId>& served) {
  return me.waiting(Kind::ready) ||
         std::ranges::any_of(served, [&](PeerId i) { return me.expects(i); });
}

/// As someone_asks(), but first waits for successors of peers that have died.
Task<bool> someone_asks_again(Peer& me, const std::vector<PeerId>& served) {
  for (const PeerId i : served)
    if (!someone_asks(me, served)) co_await me.succeeded(i, me.life(i));
  co_return someone_asks(me, served);
}

}  // namespace

Round slowest(const Peer& me, const AskedNumbers& asked) {
  std::optional<Round> least;
  for (const auto& [peer, number] : asked) {
    if (!me.expects(peer)) continue;
    const Round round = (std::max<std::uint64_t>(number, 1) - 1) / me.plan.setup->steps_of(peer);
    least = std::min(least.value_or(round), round);
  }
  return least.value_or(me.round);
}

/// Asks for this minibatch and for the next one.
void Supply::ask(PeerId server, std::uint64_t number) {
  const std::uint64_t life = me_.life(server);
  asked_ = life == life_ ? std::max(asked_, number) : number;
  life_ = life;
  for (; asked_ < number + 2; ++asked_)
    me_.send(server, Kind::ready, judgement_for(me_, asked_), 0, asked_);
}

Task<Payload> Supply::next() {
  double& taken = me_.replica.scalar("minibatches");
  const auto number = static_cast<std::uint64_t>(taken);
  const PeerId server = samples_server(*me_.plan.setup, me_.plan.id);
  while (!over_) {
    ask(server, number);
    const std::optional<Message> came =
        co_await me_.receive(server, Kind::samples, 0, number, Absence::vacant);
    if (came) {
      taken += 1;
      co_return came->payload;
    }
    const bool succeeded = co_await me_.succeeded(server, life_);
    over_ = !succeeded;
  }
  co_return nullptr;
}

std::string own_samples_objection(const Setup& setup) {
  if (setup.data_servers == 0) return "";
  if (setup.actors > 0)
    return "its peers learn from their own transitions: take another method, such as "
           "`d-psgd` or `all-reduce`, or no `agent.actors`";
  return "its peers train on samples of their own: take another method, such as `d-psgd` or "
         "`all-reduce`, or no `data.servers`";
}

PeerId samples_server(const Setup& setup, PeerId i) {
  return setup.peers + setup.servers + i % setup.data_servers;
}

std::vector<PeerId> supply_links(const Setup& setup, PeerId i) {
  if (setup.data_servers == 0) return {};
  if (i < setup.peers) return {samples_server(setup, i)};
  return served_by(setup, i);
}

std::vector<Channel> supply_channels(const Setup& setup) {
  const PeerId n = setup.peers;
  const PeerId first = n + setup.servers;
  const std::size_t most = setup.most_samples_bytes;
  const auto ready = [n](PeerId from, std::uint32_t part, std::size_t bytes) {
    return from < n && part == 0 && bytes == 0;
  };
  const auto samples = [=](PeerId from, std::uint32_t part, std::size_t bytes) {
    return from >= first && part == 0 && bytes > 0 && bytes <= most;
  };
  return {{.kind = Kind::ready, .fits = ready, .keeps = Keeps::queue},
          {.kind = Kind::samples, .most_bytes = most, .fits = samples}};
}

Task<> serve_samples(Peer& me) {
  const std::vector<PeerId> served = served_by(*me.plan.setup, me.plan.id);
  AskedNumbers asked;
  for (const PeerId i : served) asked[i] = 0;
  for (;;) {
    bool asked_for = someone_asks(me, served);
    if (!asked_for) asked_for = co_await someone_asks_again(me, served);
    if (!asked_for) co_return;
    const Next next = co_await me.next(Kind::ready);
    if (!next.message) continue;
    const PeerId from = next.message->from;
    const std::uint64_t number = next.message->number;
    Payload samples;
    const auto pack = [&] { samples = me.plan.samples_for(from, number); };
    co_await me.compute(static_cast<double>(me.plan.setup->most_samples_bytes), pack,
                        Activity::compute);
    // A successor counts again, and would take the number for that of its own question.
    if (samples && next.message->life == me.life(from))
      me.send(from, Kind::samples, samples, 0, number);
    asked[from] = number;
    while (me.running() && me.round < slowest(me, asked)) co_await me.end_round();
  }
}

}  // namespace gv
