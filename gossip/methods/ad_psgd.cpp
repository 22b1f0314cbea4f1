#include <map>
#include <vector>

#include "gossip/beside.h"
#include "gossip/registry.h"
#include "gossip/servers.h"

// AD-PSGD. Lian, Zhang, Zhang & Liu, "Asynchronous decentralized parallel stochastic gradient
// descent", ICML 2018, arXiv:1710.06952, Algorithm 1: while it computes its gradient, a peer
// averages with one neighbour drawn at random, x_i, x_j <- (x_i + x_j) / 2, and answers whoever has
// drawn it; nobody waits for a round of anybody else. Deviation: the average is written as two
// opposite flows, (x_j - x_i) / 2 and (x_i - x_j) / 2 of the two vectors that were sent, and not as
// one atomic step; so there are no locks, a circle of waits cannot form, and any graph will do. A
// peer that is asked applies its flow when it answers; one that asked, when the answer is here. If
// that is late, the pair is open until then, and no other one begins; the step does not wait for
// it, since a flow is against what was sent. So staleness is bounded: answers are given one after
// the other, by the same arithmetic as gradients, and x moves once at most between a gradient and
// its step. Per round and peer: one message each way, 4 d bytes, and as many for whoever draws it.

namespace gv {
namespace {

/// A neighbour that was asked and has not answered.
struct Open {
  Round number = 0;
  Payload ours;            ///< as it was sent
  bool crossed = false;    ///< its own question came instead, and our flow is applied
  bool confirmed = false;  ///< it says that its question crossed ours: it waits in our queue
};
using Opens = std::map<PeerId, Open>;

/// Uses vectors that travelled, decoded at both ends: so the flows are opposite in a codec too.
Task<> flow(Peer& me, PeerId from, Payload theirs_encoded, Payload ours_encoded) {
  const Payload theirs = co_await me.decode(theirs_encoded, me.replica.size(), me.codec());
  const Payload ours = co_await me.decode(ours_encoded, me.replica.size(), me.codec());
  bool finite = theirs != nullptr;
  co_await me.compute(2.0 * static_cast<double>(me.replica.size()), [&] {
    finite = finite && me.replica.add_flow(Vector::x, whole(me), 0.5F, *theirs, *ours);
  });
  if (!finite) me.journal.note(event::NotFiniteCame{me.round, from, 1, 0});
}

/// Two questions that cross are one average: else two peers that always ask at the same time would
/// exchange their models and never agree. Both see it, since what they send each other comes in
/// order: an answer without a vector says so.
bool crosses(const Peer& me, PeerId peer, const Opens& opens) {
  const auto open = opens.find(peer);
  if (open == opens.end() || open->second.crossed) return false;
  const Message* here = me.arrived(peer, Kind::pull, 0, open->second.number);
  return here == nullptr || !here->payload;  // else it has answered us, and then asked
}

/// Nothing may come between the look at what is open and what is sent: both ends go by the order in
/// which it was.
Task<> answer_one(Peer& me, Message asked, Opens& opens) {
  Payload mine;
  if (!crosses(me, asked.from, opens)) mine = co_await me.encode(Vector::x, whole(me), me.codec());
  if (!crosses(me, asked.from, opens)) {
    me.send(asked.from, Kind::pull, mine, 0, asked.number);
    co_await flow(me, asked.from, asked.payload, mine);
    co_return;
  }
  Open& open = opens.at(asked.from);
  const Payload ours = open.ours;
  me.send(asked.from, Kind::pull, nullptr, 0, asked.number);
  open.crossed = true;
  if (open.confirmed) opens.erase(asked.from);
  co_await flow(me, asked.from, asked.payload, ours);
}

struct Ending {
  bool now = false;
};

/// The paper's other thread.
Task<> answer_everybody(Peer& me, Opens& opens, const Ending& ending) {
  while (!ending.now) {
    const Next asked = co_await me.idle(Kind::push);
    if (asked.message) co_await answer_one(me, *asked.message, opens);
  }
}

/// One that is there and owes no answer; nobody: there is none.
std::optional<PeerId> draw(Peer& me, const Opens& opens) {
  std::vector<PeerId> free;
  for (const Neighbor& neighbor : me.neighbors)
    if (neighbor.receives && me.here(neighbor.peer) && !opens.contains(neighbor.peer))
      free.push_back(neighbor.peer);
  if (free.empty()) return {};
  Rng rng = Rng(me.plan.setup->seed).derive("ad-psgd").derive(me.plan.id).derive(me.round);
  return free[rng.below(free.size())];
}

Task<> ask(Peer& me, PeerId peer, Opens& opens) {
  const Payload ours = co_await me.encode(Vector::x, whole(me), me.codec());
  me.send(peer, Kind::push, ours);
  opens[peer] = {me.round, ours};
}

/// Who has left without an answer has not applied its flow, and who has died takes it along.
Task<> settle(Peer& me, PeerId peer, Opens& opens, Absence until) {
  const Payload ours = opens.at(peer).ours;
  const std::optional<Message> theirs =
      co_await me.receive(peer, Kind::pull, 0, opens.at(peer).number, until);
  if (!theirs) {
    if (!me.expects(peer)) opens.erase(peer);
  } else if (theirs->payload) {
    opens.erase(peer);
    co_await flow(me, peer, theirs->payload, ours);
  } else if (opens.at(peer).crossed) {
    opens.erase(peer);
  } else {
    opens.at(peer).confirmed = true;
  }
}

Task<> settle_what_came_late(Peer& me, Opens& opens) {
  std::vector<PeerId> late;
  for (const auto& [peer, open] : opens)
    if (me.arrived(peer, Kind::pull, 0, open.number) != nullptr || !me.expects(peer))
      late.push_back(peer);
  for (const PeerId peer : late) co_await settle(me, peer, opens, Absence::away);
}

/// A peer that lives and does not answer within faults.deadline is waited for no longer. A question
/// that crossed ours came before the answer that says so: where none waits, there was none.
Task<> settle_all(Peer& me, Opens& opens) {
  while (!opens.empty()) {
    const PeerId peer = opens.begin()->first;
    if (!opens.begin()->second.confirmed) co_await settle(me, peer, opens, Absence::lost);
    const auto open = opens.find(peer);
    if (open == opens.end()) continue;
    if (!open->second.confirmed || !me.waiting(Kind::push)) opens.erase(open);
    co_await me.compute(0, [] {});  // answer_everybody() comes to its question
  }
}

Task<> ad_psgd(Peer& me) {
  Ending ending;
  Opens opens;
  Beside others(me.world, answer_everybody(me, opens, ending));
  for (; me.running(); co_await me.end_round()) {
    co_await settle_what_came_late(me, opens);
    me.keep_company(!opens.empty());
    const std::optional<PeerId> peer = draw(me, opens);
    if (peer) co_await ask(me, *peer, opens);
    co_await me.gradient();
    co_await me.step_local();
    if (peer) co_await settle(me, *peer, opens, Absence::away);
  }
  co_await settle_all(me, opens);
  ending.now = true;
  me.wake();
  co_await others.join();
}

/// Of one neighbour, a question that crossed ours may wait, and the next one.
std::vector<Channel> channels(const Setup& setup, std::size_t d) {
  const std::size_t bytes = payload_bytes(setup.codec, d);
  const auto question = [bytes](PeerId, std::uint32_t part, std::size_t size) {
    return part == 0 && size == bytes;
  };
  const auto answer = [bytes](PeerId, std::uint32_t part, std::size_t size) {
    return part == 0 && (size == bytes || size == 0);
  };
  return {{.kind = Kind::push, .most_bytes = bytes, .fits = question, .keeps = Keeps::queue},
          {.kind = Kind::pull, .most_bytes = bytes, .fits = answer}};
}

std::string objection(const Setup& setup, const MixingMatrix* w) {
  if (setup.local_steps != 1)
    return "ad-psgd averages while it computes each gradient: train.local_steps must be 1";
  if (setup.scheduled || (w != nullptr && w->directed()))
    return "ad-psgd draws its own pairs on an undirected graph that stays: take one, such as "
           "`ring` or `torus`";
  return "";
}

}  // namespace

extern const AlgorithmRow ad_psgd_row{
    .kind = "ad-psgd",
    .run = ad_psgd,
    .mixes = true,
    .codecs = Codecs::dense,
    .channels = channels,
    .objection = objection,
    .program = split_steps,
    .promise = Promise::mean,
    .synchronous = false,
    .summary = "each peer averages with one drawn neighbour while it computes; arXiv:1710.06952"};

}  // namespace gv
