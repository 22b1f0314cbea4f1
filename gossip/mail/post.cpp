#include "gossip/mail/post.h"

#include <algorithm>
#include <bit>

#include "optim/check.h"

namespace gv {

using Why = event::CollectiveBroken::Why;

namespace {

/// The bits of a goodbye's `part` from 2 on: why a collective ended, and from bit 4 on the peer
/// + 1.
std::uint32_t to_bits(const event::CollectiveBroken& end) {
  return (end.peer + 1) << 4 | static_cast<std::uint32_t>(end.why) << 2;
}

}  // namespace

Post::Post(PeerCore& self, const Roster& roster, Pace& pace)
    : self_(self),
      roster_(roster),
      pace_(pace),
      chains_(self, roster),
      refused_(self.neighbors.size()),
      told_each_(self.neighbors.size()),
      left_for_(self.neighbors.size()) {}

Message Post::make_message(Kind kind,
                           std::uint64_t number,
                           std::uint32_t part,
                           Payload payload) const {
  Message m;
  m.from = self_.plan.id;
  m.kind = kind;
  m.number = number;
  m.part = part;
  m.payload = std::move(payload);
  m.round = pace_.clock();
  return m;
}

void Post::send(PeerId to, Message message) {
  if (message.payload) sent_payloads_ += message.payload->size();
  message.sent = self_.world.stamp();
  self_.world.send(to, std::move(message));
}

void Post::say_goodbye(PeerId to, std::uint64_t first_without_us, std::uint32_t stays) {
  const std::uint32_t early = self_.round < self_.last_round ? leaves_early : 0;
  const auto& end = broken_ ? broken_ : left_;
  const std::uint32_t cause = early != 0 && end ? to_bits(*end) : 0;
  told_each_[*self_.find(to)].farewell = true;
  send(to, make_message(Kind::goodbye, first_without_us, early | stays | cause, nullptr));
}

const Channel* Post::channel(Kind kind) const {
  const auto at = std::ranges::find(self_.plan.channels, kind, &Channel::kind);
  return at == self_.plan.channels.end() ? nullptr : &*at;
}

bool Post::talks(std::size_t k) const {
  const Neighbor& neighbor = self_.neighbors[k];
  return neighbor.sends || neighbor.linked || neighbor.chained;
}

bool Post::take(std::size_t k, Message message) {
  const Channel* const stream = channel(message.kind);
  if (stream == nullptr || !talks(k)) return false;
  message.life = roster_.life(k);
  const std::size_t bytes = message.payload ? message.payload->size() : 0;
  if (!stream->fits(message.from, message.part, bytes)) return false;
  const auto asked = asked_.find({message.from, message.kind});
  const bool stale = asked != asked_.end() && message.number < asked->second;
  if (stale || roster_.quarantined(k)) return true;
  if (stream->keeps == Keeps::queue) return enqueue(*stream, std::move(message));
  const Mailbox::Key key{message.from, message.kind, message.number, message.part};
  const bool full = mailbox_.kept(message.from, message.kind) >= stream->most_waiting;
  if (full && !mailbox_.waited_for(key)) return false;
  return mailbox_.deliver(std::move(message));
}

/// Drops messages below the number, which nothing will ask for any more.
void Post::ask(const Mailbox::Key& key) {
  if (!is_channel(key.kind)) return;
  std::uint64_t& asked = asked_[{key.from, key.kind}];
  if (key.number <= asked) return;
  asked = key.number;
  mailbox_.drop(key.from, key.kind, 0, key.number);
}

Task<std::optional<Message>> Post::receive(Mailbox::Key key, Absence absence) {
  const std::optional<std::size_t> k = self_.find(key.from);
  GV_CHECK(k.has_value(), "a peer receives from its neighbours");
  ask(key);
  Receive waiting{mailbox_, key, absence, {}};
  const bool here = waiting.await_ready();
  const bool absent = absence == Absence::away || stopping_ ? !roster_.here(*k) : roster_.dead(*k);
  if (!here && !absent) {
    begin_wait(key, *k, absence);
    waiting.answer = co_await waiting;
    end_wait(waiting.answer);
  }
  if (waiting.answer) {
    refused_[*k] = 0;
    count(*waiting.answer);
  }
  if (!waiting.answer && absence == Absence::gone) say_broken(*k);
  co_return std::move(waiting.answer);
}

bool Post::enqueue(const Channel& channel, Message message) {
  std::deque<Message>& queue = queues_[channel.kind];
  const auto waiting = std::ranges::count(queue, message.from, &Message::from);
  if (waiting >= static_cast<std::ptrdiff_t>(channel.most_waiting)) return false;
  queue.push_back(std::move(message));
  intake_.queue = std::max(intake_.queue, queue.size());
  wake_next();
  return true;
}

/// A wait for any message checks again for whom it waits.
void Post::refused(std::size_t k) {
  if (++refused_[k] == most_refusals) wake_next();
}

void Post::wake_next() {
  if (when_next_) std::exchange(when_next_, {})();
}

/// While this peer waits for one neighbour, another one may wait for this peer: it is informed, so
/// that it does not take this peer for stuck.
Task<Next> Post::next(Kind kind, Time deadline, Awaited awaited) {
  bool late = false;
  if (!waiting(kind)) {
    const Time began = self_.world.now();
    ++nexts_;
    if (awaited) awaited_ = &awaited;
    tell_changes();
    watch_next(deadline, late);
    Suspend suspend{when_next_};
    self_.timesheet.wait_begins(began);
    co_await suspend;
    ++nexts_;
    awaited_ = nullptr;
    const Time now = self_.world.now();
    longest_wait_ = std::max(longest_wait_, now - began);
    const Message* const first = waiting(kind) ? &queues_[kind].front() : nullptr;
    first == nullptr ? self_.timesheet.wait_ends(now, {}, {})
                     : self_.timesheet.wait_ends(now, self_.find(first->from), first->sent);
  }
  Next next = oldest(kind);
  next.late = late;
  co_return std::move(next);
}

Task<Next> Post::idle(Kind kind) {
  if (!waiting(kind)) {
    Suspend suspend{when_next_};
    co_await suspend;
  }
  co_return oldest(kind);
}

Next Post::oldest(Kind kind) {
  std::deque<Message>& queue = queues_[kind];
  if (queue.empty()) return {};
  Next next{std::move(queue.front())};
  queue.pop_front();
  refused_[*self_.find(next.message->from)] = 0;
  count(*next.message);
  return next;
}

/// A message carries its sender's clock. A peer that only hands out samples is no company.
void Post::count(const Message& taken) {
  if (self_.neighbors[*self_.find(taken.from)].sends) pace_.met();
  const Round behind = pace_.clock() - std::min(pace_.clock(), taken.round);
  intake_.staleness = std::max(intake_.staleness, behind);
  const auto bin = static_cast<std::size_t>(
      behind < 2 ? behind : 1 + std::bit_width(static_cast<std::uint64_t>(behind - 1)));
  if (staleness_.size() <= bin) staleness_.resize(bin + 1);
  ++staleness_[bin];
}

void Post::has_answered() {
  answered_ = self_.world.now();
  if (told_ && !wait_) tell_held_up(false);
}

std::optional<Why> Post::hopeless(std::size_t k) const {
  if (stopping_ || broken_) return {};
  // Its process ends after its goodbye; that death is no failure.
  if (mailbox_.closed(self_.neighbors[k].peer)) return Why::left;
  return Why::died;  // or a successor has taken its place
}

void Post::say_broken(std::size_t k) {
  if (const std::optional<Why> why = hopeless(k)) note_broken(k, *why);
}

/// A neighbour that left because another peer was missing names that peer, which is to blame.
void Post::note_broken(std::size_t k, Why why) {
  event::CollectiveBroken end{self_.round, self_.neighbors[k].peer, why};
  if (why == Why::left && left_for_[k]) end = {self_.round, left_for_[k]->peer, left_for_[k]->why};
  self_.journal.note(end);
  (end.why == Why::left ? left_ : broken_) = end;
}

void Post::interrupt(std::size_t k, Interruption why, Absence absence) {
  if (self_.rules.ends_wait(why)) mailbox_.interrupt(self_.neighbors[k].peer, absence);
}

void Post::goodbye(std::size_t k, const Message& message) {
  const PeerId by = (message.part >> 4) - 1;
  const std::uint32_t why = message.part >> 2 & 3;
  const bool names = by < self_.plan.peers && by != self_.plan.id && by != message.from;
  if (names && why <= static_cast<std::uint32_t>(Why::stuck))
    left_for_[k] = event::CollectiveBroken{message.round, by, static_cast<Why>(why)};
  mailbox_.close(message.from, message.number);
  wake_next();
}

void Post::away(std::size_t k) {
  tell_changes();
  wake_next();
  interrupt(k, Interruption::away);
  if (stopping_) interrupt_lasting(k, Interruption::away);
}

void Post::died(std::size_t k) {
  interrupt_lasting(k, Interruption::away);
  wake_next();
}

/// Ends the waits that outlast an absence.
void Post::interrupt_lasting(std::size_t k, Interruption why) {
  interrupt(k, why, Absence::gone);
  interrupt(k, why, Absence::lost);
  interrupt(k, why, Absence::vacant);
}

void Post::back(std::size_t k) {
  if (wait_ && wait_->k == k && wait_->absence != Absence::away && !misbehaves(k))
    wait_->since = self_.world.now();
  pass_on();
  wake_next();
}

void Post::replaced(std::size_t k) {
  const PeerId peer = self_.neighbors[k].peer;
  if (!self_.rules.legacy().mail) {
    mailbox_.forget(peer);
    std::erase_if(asked_, [peer](const auto& stream) { return stream.first.first == peer; });
    for (auto& [kind, queue] : queues_)
      std::erase_if(queue, [peer](const Message& each) { return each.from == peer; });
  }
  chains_.forget(k);
  told_each_[k] = {};
  refused_[k] = 0;
  left_for_[k].reset();
  interrupt(k, Interruption::successor);
  interrupt_lasting(k, Interruption::successor);
  wake_next();
}

void Post::stop() {
  stopping_ = true;
  if (wait_ && wait_->absence != Absence::away && !roster_.here(wait_->k))
    interrupt_lasting(wait_->k, Interruption::away);
}

}  // namespace gv
