#include <cmath>

#include "gossip/registry.h"

// RelaySGD. Vogels, He, Koloskova, Lin, Karimireddy, Stich & Jaggi, "RelaySum for decentralized
// deep learning on heterogeneous data", NeurIPS 2021, arXiv:2110.04175, Algorithm 1. On a tree: to
// each neighbour goes the sum of what came from all others, m_ij = x_i + sum_{q != j} m_qi, with
// the number of models in it, and x_i = ((n - sum_j c_ji) x_i + sum_j m_ji) / n. Each model reaches
// everybody after as many rounds as it has hops to go, and counts once. Who is late is represented
// by what it sent last, who is lost by our own x. Memory of a peer: deg + 1 vectors. Per round and
// peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

struct Heard {
  Vector sum;      ///< m_ji
  double& models;  ///< c_ji
};

Heard heard_of(Peer& me, PeerId j) {
  return {me.replica.vector("heard", j), me.replica.scalar("models heard", j)};
}

Task<> relay(Peer& me, PeerId to, Vector out) {
  double models = 1;
  co_await me.copy(Vector::x, out);
  for (const Neighbor& other : me.neighbors) {
    const Heard heard = heard_of(me, other.peer);
    if (other.peer == to || heard.models == 0) continue;
    co_await me.axpby(1, heard.sum, 1, out);
    models += heard.models;
  }
  const Payload sum = co_await me.snapshot(out, {0, me.replica.size()});
  me.send(to, Kind::push, sum, 0);
  me.send(to, Kind::push, me.one_number(models), 1);
}

bool is_count(double models, PeerId peers) {
  return models >= 1 && models < peers && models == std::floor(models);
}

Task<> hear(Peer& me, PeerId from) {
  Heard heard = heard_of(me, from);
  if (!me.expects(from)) heard.models = 0;
  const std::optional<Message> sum = co_await me.receive(from, Kind::push, 0, Absence::away);
  if (!sum) co_return;
  const std::optional<Message> count = co_await me.receive(from, Kind::push, 1, Absence::away);
  if (!count) co_return;
  const auto models = static_cast<double>(count->payload->floats()[0]);
  bool counts = is_count(models, me.plan.setup->peers);
  co_await me.compute(static_cast<double>(me.replica.size()),
                      [&] { counts = counts && all_finite(sum->payload->floats()); });
  if (!counts) {
    me.journal.note(event::NotFiniteCame{me.round, from, 1, 0});
    co_return;
  }
  co_await me.load(heard.sum, {0, me.replica.size()}, sum->payload);
  heard.models = models;
}

Task<> combine(Peer& me) {
  const auto n = static_cast<double>(me.plan.setup->peers);
  double models = 0;
  for (const Neighbor& neighbor : me.neighbors) models += heard_of(me, neighbor.peer).models;
  co_await me.scale(Vector::x, static_cast<float>((n - models) / n));
  for (const Neighbor& neighbor : me.neighbors) {
    const Heard heard = heard_of(me, neighbor.peer);
    if (heard.models > 0) co_await me.axpby(static_cast<float>(1 / n), heard.sum, 1, Vector::x);
  }
}

Task<> relay_sgd(Peer& me) {
  const Vector out = me.vector("out");
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
    for (const Neighbor& neighbor : me.neighbors) co_await relay(me, neighbor.peer, out);
    for (const Neighbor& neighbor : me.neighbors) co_await hear(me, neighbor.peer);
    co_await combine(me);
  }
}

std::vector<Channel> channels(const Setup&, std::size_t d) {
  const auto fits = [d](PeerId, std::uint32_t part, std::size_t bytes) {
    return (part == 0 && bytes == d * sizeof(float)) || (part == 1 && bytes == sizeof(float));
  };
  return {{.kind = Kind::push, .most_bytes = d * sizeof(float), .fits = fits, .most_waiting = 4}};
}

std::string objection(const Setup& setup, const MixingMatrix* w) {
  const char* const trees = "take a tree, such as `path`, `star` or `binary-tree`";
  if (setup.scheduled || (w != nullptr && w->directed()))
    return std::string("relay-sgd sums along a tree that stays, and this topology does not: ") +
           trees;
  if (w == nullptr) return "";
  std::size_t ends = 0;
  for (PeerId i = 0; i < w->size(); ++i) ends += w->row(i).peers.size();
  if (ends / 2 + 1 == w->size()) return "";
  return "relay-sgd needs exactly one way from each peer to each other, and this topology has " +
         std::to_string(ends / 2) + " edges for " + std::to_string(w->size()) + " peers: " + trees;
}

}  // namespace

extern const AlgorithmRow relay_sgd_row{
    .kind = "relay-sgd",
    .run = relay_sgd,
    .mixes = true,
    .channels = channels,
    .objection = objection,
    .promise = Promise::nothing,
    .summary = "sums of models relayed along a tree: each counts once; arXiv:2110.04175"};

}  // namespace gv
