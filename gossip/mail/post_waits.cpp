#include "gossip/mail/post_waits.h"

#include <algorithm>
#include <utility>

#include "gossip/mail/post.h"
#include "optim/check.h"

// The wait of the algorithm for a neighbour's message, and the reports of waits to neighbours, so
// that they do not take this peer for stuck.

namespace gv {

using Why = event::CollectiveBroken::Why;

/// Peers that wait for our answer have waited since the last one, through all of our waits. `late`
/// must live as long as the wait.
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

/// Repeats the report while next() waits; first after the time `first`.
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
  const Time most = deadline(absence);
  if (!watching_ && most > Time{0}) watch(absence == Absence::away ? most : most / 2);
}

Time Post::deadline(Absence absence) const {
  return absence == Absence::away ? self_.plan.deadline : collective_deadline(self_.plan);
}

/// An absence that another peer reports is believed for as long as it is repeated, because a single
/// false word would hold all peers up for ever (a simulated run showed this in a chain).
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

/// Ends the wait after messages that arrived at the same time have been taken.
void Post::end_wait_for(std::size_t k) {
  if (!wait_ || wait_->k != k || wait_->key.kind != Kind::contribution) return;
  self_.world.after(Time{0}, [this, wait = waits_] {
    if (wait_ && waits_ == wait) interrupt(wait_->k, Interruption::passed);
  });
}

/// A neighbour that is alive and makes no progress (a stuck trainer, a very slow one) delays a
/// round by the deadline at most. There is one timer for all waits; it checks at least once in a
/// deadline of averaging, because such a wait may begin while a longer one is watched.
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
  Time most = whole;  // until the next check
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

/// Repeats a report that still holds, to neighbours that may wait for a half of ours and to those
/// that excuse us for an absence.
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

/// Tells the neighbours, so that a peer that waits for us does not take us for stuck.
void Post::tell_held_up(bool held_up) {
  told_ = held_up;
  pass_on();
}

/// Reports the end of our chain of waits to each neighbour, if reports have begun; none if only it
/// holds us up. An absent neighbour gets the report when it is back, so nothing piles up.
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

/// Returns the mean time between two reports to one neighbour, so that the end of a chain of waits
/// is passed on along all peers within half a deadline. If peers wait for any sender, each report
/// changes the reports of the others, and a report of an absence that is over travels in circles:
/// without this pause, as fast as the network allows.
Time Post::telling_pause() const {
  return self_.plan.deadline / (4 * self_.plan.peers);
}

/// Reports the end of our chain to neighbour k; to an absent one when it is back. A burst of as
/// many words as there are peers is allowed. Returns false if it is too early.
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
  send(neighbor.peer, make_message(Kind::held_up, by.value_or(0), by ? 1 : 0, nullptr));
  return true;
}

/// Sends later what is true then. One timer, whatever changes before it ends.
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
        event::DeadlinePassed{self_.round, wait.key.from, wait.key.number, wait.key.part});
  } else {
    self_.journal.note(event::GoesOnWithout{self_.round, wait.key.from});
  }
  interrupt(wait.k, Interruption::deadline, wait.absence);
}

bool WaitChains::hear(std::size_t k, const Message& message) {
  const std::uint64_t ends = 2 * std::uint64_t{self_.plan.peers};
  const bool form =
      message.part == 1 ? message.number < ends : message.part == 0 && message.number == 0;
  if (message.payload || !form) return false;
  told_[k].reset();
  if (message.part == 1) told_[k] = message.number;
  return true;
}

bool WaitChains::absence(std::size_t k) const {
  return !roster_.here(k) || (told_[k] && *told_[k] >= self_.plan.peers);
}

bool WaitChains::circle(std::size_t k) const {
  return told_[k] && (*told_[k] == self_.plan.id || *told_[k] == self_.neighbors[k].peer);
}

WaitChains::End WaitChains::end(std::size_t k) const {
  const PeerId peers = self_.plan.peers;
  if (!roster_.here(k)) return peers;
  const PeerId neighbor = self_.neighbors[k].peer;
  const End theirs = told_[k].value_or(neighbor);
  if (theirs < peers) return theirs;
  return theirs + 1 < 2 * std::uint64_t{peers} ? theirs + 1 : neighbor;
}

std::vector<WaitChains::Chain> WaitChains::chains(
    const std::function<bool(PeerId)>& awaited) const {
  std::vector<Chain> chains;
  for (std::size_t k = 0; k < self_.neighbors.size(); ++k)
    if (const Chain chain{k, end(k)};
        chain.end != self_.plan.id && awaited(self_.neighbors[k].peer))
      chains.push_back(chain);
  return chains;
}

std::optional<WaitChains::End> WaitChains::end_of_any(const std::vector<Chain>& chains,
                                                      std::size_t told) const {
  std::optional<End> found;
  for (const Chain& chain : chains) {
    if (chain.k == told) continue;
    found = chain.end;
    if (chain.end != self_.neighbors[told].peer) break;
  }
  return found;
}

Time collective_deadline(const Plan& plan) {
  if (plan.deadline == Time{0}) return Time{0};
  const Time under_way = plan.stage ? plan.stage->under_way : Time{0};
  return std::max(plan.deadline, 2 * plan.dead_after) + under_way;
}

Time longest_waits(const Plan& plan, Absence absence) {
  if (absence == Absence::away) return 2 * plan.peers * plan.deadline;
  if (!plan.stage) return 2 * plan.peers * collective_deadline(plan);
  const PeerId stages = plan.stage->stages;
  const PeerId models = (plan.peers + stages - 1) / stages;
  return 2 * (models * plan.deadline + stages * collective_deadline(plan));
}

}  // namespace gv
