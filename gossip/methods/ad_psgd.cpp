#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/exchange/exchange.h"
#include "gossip/mail/post_waits.h"
#include "gossip/registry.h"
#include "gossip/seam/task.h"
#include "gossip/servers/servers.h"

// AD-PSGD. Lian, Zhang, Zhang & Liu, "Asynchronous decentralized parallel stochastic gradient
// descent", ICML 2018, arXiv:1710.06952, Algorithm 1: while it computes its gradient, at a copy of
// x, a peer averages with one neighbour drawn at random, x_i, x_j <- (x_i + x_j) / 2, and answers
// each neighbour that has drawn it; no peer waits for another peer's round. Deviation: the average
// is written as two opposite flows, (x_j - x_i) / 2 and (x_i - x_j) / 2 of the two vectors that
// were sent, and not as one atomic step; so there are no locks, a circle of waits cannot form, and
// any graph will do. The answering peer applies its flow when it answers, the asking peer when the
// answer arrives. The asking peer waits for as long as the network takes, so that each gradient has
// its average on a slow network too, and continues if the neighbour is slow. A peer that
// cannot ask, because too many neighbours owe an answer, waits as long. Until the answer arrives
// the pair is open. Per round and peer: one message each way, 4 d bytes, and as many for each
// neighbour that draws this peer.

namespace gv {
namespace {

constexpr std::uint32_t question_part = 0, answer_part = 1;  ///< the parts of Kind::push

/// Maximum number of open pairs; then a peer asks no other neighbour. With one, a slow neighbour
/// would block the others. With three, flows of half a difference each, computed from an old x, add
/// up to more than the difference, and models diverge on a torus or complete graph.
constexpr std::ptrdiff_t most_open = 2;

/// An open pair: a question to a neighbour without an answer yet.
struct Open {
  Round number = 0;
  std::uint64_t life = 0;  ///< the neighbour's process that received the question
  Payload ours;            ///< as it was sent
  Time asked{0};
};
using Opens = std::map<PeerId, Open>;

/// State shared by the two coroutines of a peer.
struct Pairs {
  Opens opens;
  std::map<PeerId, UsualTime> ways;  ///< usual travel time of each neighbour's messages
  UsualTime handling;                ///< usual time until this peer answers
  Time sent{0};                      ///< time at which the last message taken was sent
  bool ending = false;
  std::uint64_t waits = 0;          ///< number of waits for answers
  bool late = false;                ///< the present wait has lasted long enough
  std::function<void()> when_news;  ///< resumes await_answer()

  void tell_news() {
    if (when_news) std::exchange(when_news, {})();
  }
};

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

/// Settles the pair and returns the x that we sent in it.
Payload settle(Opens& opens, Opens::iterator open) {
  Payload ours = std::move(open->second.ours);
  opens.erase(open);
  return ours;
}

/// Returns the open pair with the process that sent the message; opens.end() if there is none.
Opens::iterator with_sender(Opens& opens, const Message& message) {
  const auto open = opens.find(message.from);
  return open != opens.end() && open->second.life == message.life ? open : opens.end();
}

/// An answer to another question than the one that is open counts nowhere.
Task<> take_answer(Peer& me, Message answered, Opens& opens) {
  const auto open = with_sender(opens, answered);
  if (open == opens.end() || open->second.number != answered.number) co_return;
  co_await flow(me, answered.from, answered.payload, settle(opens, open));
}

/// Two questions that cross are one average: otherwise two peers that always ask at the same time
/// would exchange their models and never agree. Both ends see it, because messages are taken in the
/// order in which they were sent: a neighbour whose question comes while ours is open had not taken
/// ours when it asked. So nothing may come between the check of open pairs and the sending.
Task<> take_question(Peer& me, Message asked, Pairs& pairs) {
  Opens& opens = pairs.opens;
  const Time began = me.world.now();
  Payload mine;
  if (with_sender(opens, asked) == opens.end())
    mine = co_await me.encode(Vector::x, whole(me), me.codec());
  if (asked.life != me.life(asked.from)) co_return;  // its successor has not asked
  const auto open = with_sender(opens, asked);
  if (open == opens.end()) {
    me.send(asked.from, Kind::push, mine, answer_part, asked.number);
  } else {
    mine = settle(opens, open);
  }
  co_await flow(me, asked.from, asked.payload, mine);
  pairs.handling.add(std::max(Time{0}, me.world.now() - began));
}

Task<> take(Peer& me, Message message, Pairs& pairs) {
  pairs.sent = message.sent;
  pairs.ways[message.from].add(std::max(Time{0}, me.world.now() - message.sent));
  return message.part == question_part ? take_question(me, std::move(message), pairs)
                                       : take_answer(me, std::move(message), pairs.opens);
}

/// A process that has left without an answer has not applied its flow, and the flow of one that has
/// died is lost. Messages that it sent before are taken first.
void forget_gone(const Peer& me, Opens& opens) {
  const bool taken = !me.waiting(Kind::push);
  std::erase_if(opens, [&](const auto& open) {
    return me.life(open.first) != open.second.life || (taken && !me.expects(open.first));
  });
}

/// The second thread of the paper.
Task<> answer_everybody(Peer& me, Pairs& pairs) {
  while (!pairs.ending) {
    Next next = co_await me.idle(Kind::push);
    if (next.message) co_await take(me, std::move(*next.message), pairs);
    pairs.tell_news();
  }
}

/// Draws a neighbour that is here and owes no answer. Returns nothing if there is none, or if
/// `most_open` others owe one.
std::optional<PeerId> draw(Peer& me, const Opens& opens) {
  const auto answers = [&](const auto& open) { return me.here(open.first); };
  if (std::ranges::count_if(opens, answers) >= most_open) return {};
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
  me.send(peer, Kind::push, ours, question_part);
  opens[peer] = {me.round, me.life(peer), ours, me.world.now()};
}

/// Returns the last neighbour that this peer asked, that is here and that owes an answer.
std::optional<PeerId> last_asked(const Peer& me, const Opens& opens) {
  std::optional<PeerId> last;
  for (const auto& [peer, open] : opens)
    if (me.here(peer) && (!last || open.asked > opens.at(*last).asked)) last = peer;
  return last;
}

/// Returns the longest usual wait for an answer: both ways plus a quarter, and twice our own time
/// to answer, because the neighbour may answer another peer first. Returns nothing before the
/// neighbour's first message.
std::optional<Time> longest_answer(const Pairs& pairs, PeerId peer) {
  const auto way = pairs.ways.find(peer);
  if (way == pairs.ways.end()) return {};
  return way->second.get() * 5 / 2 + 2 * pairs.handling.get();
}

/// Waits for the answer of a neighbour that is here, for as long as a fast neighbour would take
/// after time `asked`.
Task<> await_answer(Peer& me, PeerId peer, Time asked, const std::shared_ptr<Pairs>& pairs) {
  const auto missing = [&] {
    return pairs->opens.contains(peer) && me.here(peer) && !me.stopped();
  };
  if (!missing()) co_return;
  const std::optional<Time> longest = longest_answer(*pairs, peer);
  const Time began = me.world.now();
  const Time until = longest ? asked + *longest : began + me.plan.deadline;
  const bool ends = longest || me.plan.deadline > Time{0};
  if (ends && until <= began) co_return;
  ++pairs->waits;
  pairs->late = false;
  if (ends)
    me.world.after(until - began, [weak = std::weak_ptr(pairs), wait = pairs->waits] {
      const auto alive = weak.lock();
      if (!alive || alive->waits != wait) return;
      alive->late = true;
      alive->tell_news();
    });
  me.timesheet.wait_begins(began);
  while (missing() && !pairs->late) {
    Suspend news{pairs->when_news};
    co_await news;
  }
  const bool came = !pairs->opens.contains(peer);
  me.timesheet.wait_ends(me.world.now(), me.find(peer),
                         came ? std::optional(pairs->sent) : std::nullopt);
}

/// If a neighbour that is here does not answer within the deadline, this peer stops waiting for it;
/// a neighbour that is away is awaited until it is back or known to be dead, unless this peer has
/// to stop. An answer that is here counts in any case, because its sender has applied its half.
Task<> settle_all(Peer& me, Pairs& pairs) {
  Opens& opens = pairs.opens;
  const Time most = collective_deadline(me.plan);
  const Post::Awaited awaited = [&opens](PeerId i) { return opens.contains(i); };
  Time since = me.world.now();
  for (forget_gone(me, opens); !opens.empty(); forget_gone(me, opens)) {
    const Time now = me.world.now();
    const bool away = std::ranges::none_of(opens, [&](const auto& o) { return me.here(o.first); });
    if (away) since = now;
    const bool late = most > Time{0} && now >= since + most;
    if ((late || (away && me.stopped())) && !me.waiting(Kind::push)) co_return;
    const Time left = most > Time{0} ? since + most - now : Time{0};
    Next next = co_await me.next(Kind::push, left, awaited);
    if (next.message) co_await take(me, std::move(*next.message), pairs);
  }
}

Task<> ad_psgd(Peer& me) {
  const auto pairs = std::make_shared<Pairs>();
  Beside others(me.world, answer_everybody(me, *pairs));
  for (; me.running(); co_await me.end_round()) {
    forget_gone(me, pairs->opens);
    me.keep_company();  // no peer waits, so a round without an answer is not a round alone
    const Time began = me.world.now();
    const std::optional<PeerId> peer = draw(me, pairs->opens);
    if (peer) co_await ask(me, *peer, pairs->opens);
    const std::optional<PeerId> asked = peer ? peer : last_asked(me, pairs->opens);
    co_await me.gradient_beside();
    co_await me.step_local();
    if (asked) co_await await_answer(me, *asked, began, pairs);
  }
  pairs->ending = true;
  me.wake();
  co_await others.join();
  co_await settle_all(me, *pairs);
}

/// Two messages of a neighbour may wait: its answer and a question, or two questions of which the
/// first crossed ours.
std::vector<Channel> ad_psgd_channels(const Setup& setup, std::size_t d) {
  const std::size_t bytes = payload_bytes(setup.codec, d);
  const auto fits = [bytes](PeerId, std::uint32_t part, std::size_t size) {
    return (part == question_part || part == answer_part) && size == bytes;
  };
  return {{.kind = Kind::push, .most_bytes = bytes, .fits = fits, .keeps = Keeps::queue}};
}

std::string ad_psgd_objection(const Setup& setup, const MixingMatrix* w) {
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
    .channels = ad_psgd_channels,
    .objection = ad_psgd_objection,
    .program = split_steps,
    .promise = Promise::mean,
    .synchronous = false,
    .summary = "each peer averages with one drawn neighbour while it computes; arXiv:1710.06952"};

}  // namespace gv
