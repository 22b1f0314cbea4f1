#include <cmath>

#include <fmt/format.h>

#include "gossip/registry.h"
#include "gossip/steps/pushes.h"

// RelaySGD. Vogels, He, Koloskova, Lin, Karimireddy, Stich & Jaggi, "RelaySum for decentralized
// deep learning on heterogeneous data", NeurIPS 2021, arXiv:2110.04175, Algorithm 1. On a tree:
// each neighbour gets the sum of the messages from all others, m_ij = x_i + sum_{q != j} m_qi, with
// the number of models in it, and x_i = ((n - sum_j c_ji) x_i + sum_j m_ji) / n. Each model reaches
// every peer after as many rounds as there are hops, and counts once. A late peer is represented by
// its last message, a lost one by our own x. Memory of a peer: deg + 1 vectors, in a codec 2 deg +
// 1. Per round and peer: deg messages out, 4 d deg bytes.

namespace gv {
namespace {

struct Heard {
  Vector sum;      ///< m_ji
  double& models;  ///< c_ji
};

Heard heard_of(Peer& me, PeerId j) {
  return {me.replica.vector("heard", j), me.replica.scalar("models heard", j)};
}

/// Sends to one neighbour. Values that a codec leaves out are added to the next sum: otherwise a
/// step smaller than the codec's last digit would never arrive.
Task<> send(Peer& me, Pushes& pushes, PeerId to, Vector sum, double models) {
  const std::vector<PeerId> receiver(1, to);
  if (!me.codec()) {
    co_await pushes.send(receiver, sum, models);
    co_return;
  }
  const Vector left_out = me.replica.vector("left out", to);
  co_await me.axpby(1, left_out, 1, sum);
  const Payload sent = co_await pushes.send(receiver, sum, models);
  const Range all{0, me.replica.size()};
  const Payload heard = co_await me.decode(sent, all.count, me.codec());
  co_await me.load(left_out, all, heard);
  co_await me.axpby(1, sum, -1, left_out);
}

Task<> relay(Peer& me, Pushes& pushes, PeerId to, Vector out) {
  double models = 1;
  co_await me.copy(Vector::x, out);
  for (const Neighbor& other : me.neighbors) {
    const Heard heard = heard_of(me, other.peer);
    if (other.peer == to || heard.models == 0) continue;
    co_await me.axpby(1, heard.sum, 1, out);
    models += heard.models;
  }
  co_await send(me, pushes, to, out, models);
}

bool is_count(double models, PeerId peers) {
  return models >= 1 && models < peers && models == std::floor(models);
}

/// Takes the newest message of each neighbour.
Task<> take(Peer& me, Pushes& pushes) {
  while (const auto taken = pushes.take(me.clock())) {
    if (!is_count(*taken->push.number, me.plan.setup->peers)) continue;
    const Payload sum = co_await sound(me, taken->from, taken->push.vector);
    if (!sum) continue;
    Heard heard = heard_of(me, taken->from);
    const Range all{0, me.replica.size()};
    co_await me.load(heard.sum, all, sum);
    heard.models = *taken->push.number;
  }
}

/// Waits only for neighbours to which we have sent something: two peers that each took the other
/// for absent would wait for ever.
Task<> hear(Peer& me, Pushes& pushes, std::vector<PeerId> partners) {
  for (bool all = false; !all;) {
    all = co_await pushes.hear(partners, me.clock(), {});
    for (const Neighbor& neighbor : me.neighbors)
      if (!me.expects(neighbor.peer)) heard_of(me, neighbor.peer).models = 0;
    co_await take(me, pushes);
  }
}

Task<> combine_relays(Peer& me) {
  const auto n = static_cast<double>(me.plan.setup->peers);
  double models = 0;
  for (const Neighbor& neighbor : me.neighbors) models += heard_of(me, neighbor.peer).models;
  co_await me.scale(Vector::x, static_cast<float>((n - models) / n));
  for (const Neighbor& neighbor : me.neighbors) {
    const Heard heard = heard_of(me, neighbor.peer);
    if (heard.models > 0) co_await me.axpby(static_cast<float>(1 / n), heard.sum, 1, Vector::x);
  }
}

/// A peer that waits for us is at most a round ahead; more only if we were away.
std::uint32_t relay_ahead(const Setup& setup) {
  return setup.peers + 1;
}

Task<> relay_sgd(Peer& me) {
  const Vector out = me.vector("out");
  Pushes pushes(me, relay_ahead(*me.plan.setup));
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
    me.keep_company(true);
    std::vector<PeerId> partners;
    for (const Neighbor& neighbor : me.neighbors) {
      if (!neighbor.receives || !me.here(neighbor.peer)) continue;
      partners.push_back(neighbor.peer);
      co_await relay(me, pushes, neighbor.peer, out);
    }
    co_await hear(me, pushes, partners);
    co_await combine_relays(me);
  }
}

std::vector<Channel> relay_sgd_channels(const Setup& setup, std::size_t d) {
  return push_channels(setup, d, relay_ahead(setup));
}

std::string relay_sgd_objection(const Setup& setup, const MixingMatrix* w) {
  if (setup.scheduled || (w != nullptr && w->directed()))
    return "relay-sgd sums along a tree that stays, and this topology does not: take `path`, "
           "`star` or `binary-tree`";
  if (w == nullptr) return "";
  std::size_t ends = 0;
  for (PeerId i = 0; i < w->size(); ++i) ends += w->row(i).peers.size();
  if (ends / 2 + 1 == w->size()) return "";
  return fmt::format(
      "relay-sgd needs exactly one way from each peer to each other, and this "
      "topology has {} edges for {} peers: take a tree, such as `path`, `star` or "
      "`binary-tree`",
      ends / 2, w->size());
}

}  // namespace

extern const AlgorithmRow relay_sgd_row{
    .kind = "relay-sgd",
    .run = relay_sgd,
    .mixes = true,
    .codecs = Codecs::dense,
    .channels = relay_sgd_channels,
    .objection = relay_sgd_objection,
    .program = whole_steps,
    .promise = Promise::nothing,
    .by_coordinate = true,
    .summary = "sums of models relayed along a tree: each counts once; arXiv:2110.04175"};

}  // namespace gv
