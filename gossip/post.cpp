#include "gossip/post.h"

#include <algorithm>
#include <bit>

#include "gossip/collective_deadline.h"
#include "gossip/goodbye.h"
#include "optim/check.h"

namespace gv {

using Why = event::CollectiveBroken::Why;

Post::Post(PeerCore& self, const Roster& roster, Pace& pace)
    : self_(self),
      roster_(roster),
      pace_(pace),
      chains_(self, roster),
      refused_(self.neighbors.size()),
      told_each_(self.neighbors.size()) {}

Message Post::letter(Kind kind, std::uint64_t number, std::uint32_t part, Payload payload) const {
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
  const std::uint32_t early = self_.round < self_.plan.rounds ? leaves_early : 0;
  told_each_[*self_.find(to)].farewell = true;
  send(to, letter(Kind::goodbye, first_without_us, early | stays, nullptr));
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

/// Drops what is below the number, which is asked for no more.
void Post::ask(const Mailbox::Key& key) {
  if (!is_channel(key.kind)) return;
  std::uint64_t& asked = asked_[{key.from, key.kind}];
  if (key.number <= asked) return;
  asked = key.number;
  mailbox_.drop_below(key.from, key.kind, key.number);
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

/// A wait for anybody's message looks again whom it waits for.
void Post::refused(std::size_t k) {
  if (++refused_[k] == most_refusals) wake_next();
}

void Post::wake_next() {
  if (when_next_) std::exchange(when_next_, {})();
}

/// While it waits for one of its neighbours, another one may wait for it: that one is told, so that
/// it does not take this peer for stuck.
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

/// A message carries its sender's clock. Who only hands out samples keeps nobody company.
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

/// Those that wait for an answer have waited since the last one, through all of our waits. `late`
/// lives as long as this one.
void Post::watch_next(Time deadline, bool& late) {
  const auto still = [this, wait = nexts_] { return when_next_ && nexts_ == wait; };
  const Time due = answered_ + self_.plan.deadline / 2 - self_.world.now();
  if (awaited_ != nullptr && self_.plan.deadline > Time{0})
    keep_telling(told_ ? collective_deadline(self_.plan) / 2 : std::max(Time{0}, due));
  if (deadline > Time{0})
    self_.world.after(deadline, [this, still, &late] {
      if (!still()) return;
      late = true;
      wake_next();
    });
}

/// While next() lasts, and after so long.
void Post::keep_telling(Time first) {
  self_.world.after(first, [this, wait = nexts_] {
    if (!when_next_ || nexts_ != wait) return;
    told_ ? tell_again() : tell_held_up(true);
    keep_telling(collective_deadline(self_.plan) / 2);
  });
}

void Post::begin_wait(const Mailbox::Key& key, std::size_t k, Absence absence) {
  GV_CHECK(!wait_, "the algorithm waits for one message at a time");
  const Time now = self_.world.now();
  wait_ = Wait{key, k, absence, now, now, now + longest_waits(self_.plan, absence)};
  self_.timesheet.wait_begins(now);
  ++waits_;
  hurry();
  const Time most = deadline(absence);
  if (!watching_ && most > Time{0}) watch(absence == Absence::away ? most : most / 2);
}

Time Post::deadline(Absence absence) const {
  return absence == Absence::away ? self_.plan.deadline : collective_deadline(self_.plan);
}

/// Somebody's absence that we only hear of is believed for as long as it is told again: a single
/// false word would hold everybody up for ever (the swarm found one in a chain).
bool Post::excused(std::size_t k) const {
  if (misbehaves(k)) return false;
  if (!roster_.here(k)) return true;
  if (chains_.circle(k)) return self_.rules.excuses_circles();
  return chains_.waits(k) && wait_ && self_.world.now() < wait_->excusable;
}

void Post::end_wait(const std::optional<Message>& answer) {
  const Time now = self_.world.now();
  const std::optional<Time> sent = answer ? std::optional(answer->sent) : std::nullopt;
  self_.timesheet.wait_ends(now, wait_->k, sent);
  longest_wait_ = std::max(longest_wait_, now - wait_->began);
  if (told_) tell_held_up(false);
  wait_.reset();
}

/// A neighbour that was late or away is out of step with us, and may be waiting for our next
/// exchange with it, which begins with our next round, while we wait for another one in this. Along
/// a cycle of such waits nobody would ever move (the swarm found it on a ring). So who has a
/// neighbour out of step waits for the others of this round only so long; in every cycle there is
/// one.
void Post::hurry() {
  if (!wait_ || wait_->key.kind != Kind::contribution || !longest_wait_of_) return;
  const std::optional<Time> most = longest_wait_of_(wait_->k);
  if (!most || (wait_->hurried && *wait_->hurried <= *most)) return;
  wait_->hurried = most;
  self_.world.after(*most, [this, wait = waits_] {
    if (wait_ && waits_ == wait) interrupt(wait_->k, Interruption::hurry);
  });
}

/// A neighbour that is alive and does not get on (a stuck trainer, a very slow one) holds a round
/// up for so long and no longer. One timer, whatever the number of waits; and it looks at least
/// once in a deadline of averaging, for such a wait may begin while a longer one is watched.
void Post::watch(Time delay) {
  delay = std::min(delay, self_.plan.deadline);
  watching_ = true;
  self_.world.after(delay, [this, due = self_.world.now() + delay] {
    watching_ = false;
    if (wait_) check_deadline(self_.world.now() - due);
  });
}

void Post::check_deadline(Time late) {
  Wait& wait = *wait_;
  const Time now = self_.world.now();
  const Time whole = deadline(wait.absence);
  Time most = whole;  // until the next look
  if (wait.absence != Absence::away) {
    most = whole / 2;
    if (told_) {
      tell_again();
    } else if (now - wait.began >= most) {
      tell_held_up(true);
    }
    wait.since = std::min(now, wait.since + late);
    if (!roster_.here(wait.k)) wait.excusable = now + longest_waits(self_.plan, wait.absence);
    if (excused(wait.k)) wait.since = now;
  }
  const Time left = wait.since + whole - now;
  if (left > Time{0}) return watch(std::min(left, most));
  deadline_passed();
}

/// It is so still: who may have a half of ours to wait for hears it again, and so does who excuses
/// us for an absence.
void Post::tell_again() {
  const Time pause = collective_deadline(self_.plan) / 4;
  for (std::size_t k = 0; k < told_each_.size(); ++k) {
    Told& told = told_each_[k];
    const bool absence = told.by && *told.by >= self_.plan.peers;
    const bool again = self_.neighbors[k].two_way || absence;
    if (again && told.paid + pause <= self_.world.now()) told.by.reset();
  }
  pass_on();
}

/// Tells it so that whoever waits for us does not take us for stuck.
void Post::tell_held_up(bool held_up) {
  told_ = held_up;
  pass_on();
}

/// Each neighbour knows the end of our own chain of waits, if they have been told at all; it hears
/// of none where nobody holds us up but itself. Who is away hears of it when it is back: nothing
/// piles up for it.
void Post::pass_on() {
  const bool for_anybody = told_ && !wait_ && awaited_ != nullptr;
  const auto chains = for_anybody ? chains_.chains(*awaited_) : std::vector<WaitChains::Chain>{};
  bool all = true;
  for (std::size_t k = 0; k < self_.neighbors.size(); ++k) {
    std::optional<WaitChains::End> by;
    if (told_) by = wait_ ? chains_.end(wait_->k) : chains_.end_of_any(chains, k);
    all = tell_end(k, by) && all;
  }
  if (!all) pass_on_later();
}

/// Spaces words to one neighbour, in the long run, so that an end is passed on along all peers
/// within half a deadline. Where peers wait for anybody, each changes what the others tell, and an
/// absence that is over runs in circles among them: without a pause, as fast as the network is.
Time Post::telling_pause() const {
  return self_.plan.deadline / (4 * self_.plan.peers);
}

/// A neighbour that is away hears of it when it is back: nothing piles up for it. As many words as
/// there are peers may follow each other at once. False: not yet.
bool Post::tell_end(std::size_t k, std::optional<WaitChains::End> by) {
  const Neighbor& neighbor = self_.neighbors[k];
  Told& told = told_each_[k];
  const bool talks = neighbor.receives || neighbor.linked || neighbor.chained;
  const bool listens =
      talks && !mailbox_.closed(neighbor.peer) && !told.farewell && roster_.here(k);
  if (!listens || by == told.by) return true;
  const Time now = self_.world.now();
  if (told.paid > now + self_.plan.peers * telling_pause()) return false;
  told.by = by;
  told.paid = std::max(told.paid, now) + telling_pause();
  send(neighbor.peer, letter(Kind::held_up, by.value_or(0), by ? 1 : 0, nullptr));
  return true;
}

/// One timer, whatever changes meanwhile: what is told is what is so then.
void Post::pass_on_later() {
  if (std::exchange(telling_, true)) return;
  self_.world.after(telling_pause(), [this] {
    telling_ = false;
    pass_on();
  });
}

bool Post::hear_held_up(std::size_t k, const Message& message) {
  const bool was = excused(k);
  if (!talks(k) || !chains_.hear(k, message)) return false;
  if (wait_ && wait_->k == k) {
    const Time now = self_.world.now();
    if (chains_.absence(k)) wait_->excusable = now + longest_waits(self_.plan, wait_->absence);
    if (was || excused(k)) wait_->since = now;
  }
  if (wait_ ? wait_->k == k : awaited_ != nullptr) tell_changes();
  return true;
}

void Post::deadline_passed() {
  const Wait wait = *wait_;
  if (wait.absence == Absence::gone || wait.absence == Absence::vacant) {
    note_broken(wait.k, Why::stuck);
  } else if (wait.key.kind == Kind::contribution) {
    self_.journal.note(
        event::DeadlinePassed{self_.round, wait.key.from, {wait.key.number}, wait.key.part});
  } else {
    self_.journal.note(event::GoesOnWithout{self_.round, wait.key.from});
  }
  interrupt(wait.k, Interruption::deadline, wait.absence);
}

std::optional<Why> Post::hopeless(std::size_t k) const {
  if (stopping_ || broken_by_) return {};
  // Its process ends after its goodbye, which is no death that others have to answer for.
  if (mailbox_.closed(self_.neighbors[k].peer)) return Why::left;
  return Why::died;  // or a successor has taken its place
}

void Post::say_broken(std::size_t k) {
  if (const std::optional<Why> why = hopeless(k)) note_broken(k, *why);
}

/// Who has left did so for a reason of its own, which others tell.
void Post::note_broken(std::size_t k, Why why) {
  const PeerId peer = self_.neighbors[k].peer;
  self_.journal.note(event::CollectiveBroken{self_.round, peer, why});
  if (why != Why::left) broken_by_ = peer;
}

void Post::interrupt(std::size_t k, Interruption why, Absence absence) {
  if (self_.rules.ends_wait(why)) mailbox_.interrupt(self_.neighbors[k].peer, absence);
}

void Post::goodbye(PeerId from, std::uint64_t number) {
  mailbox_.close(from, number);
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

/// The waits that outlast an absence.
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
  hurry();
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
