#include "gossip/mail/mailbox.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace gv {

bool Mailbox::deliver(Message message) {
  const Key key{message.from, message.kind, message.number, message.part};
  if (auto it = waiters_.find(key); it != waiters_.end()) {
    const Waiter waiter = std::move(it->second.second);
    waiters_.erase(it);
    waiter(std::move(message));
    return true;
  }
  return ready_.try_emplace(key, std::move(message)).second;
}

bool Mailbox::take(const Key& key, std::optional<Message>& answer) {
  if (auto it = ready_.find(key); it != ready_.end()) {
    answer = std::move(it->second);
    ready_.erase(it);
    return true;
  }
  answer.reset();
  return closed(key);
}

void Mailbox::wait(const Key& key, Absence absence, Waiter waiter) {
  waiters_.emplace(key, Waiting{absence, std::move(waiter)});
}

void Mailbox::close(PeerId from, std::uint64_t number) {
  const auto [it, inserted] = closed_.try_emplace(from, number);
  it->second = std::min(it->second, number);
  cancel_waiters([this](const Key& key, Absence) { return closed(key); });
}

void Mailbox::interrupt(PeerId from, Absence absence) {
  cancel_waiters(
      [&](const Key& key, Absence waits) { return key.from == from && waits == absence; });
}

void Mailbox::forget(PeerId from) {
  std::erase_if(ready_, [from](const auto& entry) { return entry.first.from == from; });
  closed_.erase(from);
}

void Mailbox::drop(PeerId from, Kind kind, std::uint64_t first, std::uint64_t end) {
  ready_.erase(ready_.lower_bound({from, kind, first, 0}),
               ready_.lower_bound({from, kind, end, 0}));
  const Key lowest{from, kind, first, 0};
  if (waiters_.lower_bound(lowest) == waiters_.lower_bound({from, kind, end, 0})) return;
  cancel_waiters([&](const Key& key, Absence) {
    return key.from == from && key.kind == kind && key.number >= first && key.number < end;
  });
}

/// Calls the waiters only after all are out of the list, because each may wait again.
void Mailbox::cancel_waiters(const Hopeless& hopeless) {
  std::vector<Waiter> cancelled;
  for (auto w = waiters_.begin(); w != waiters_.end();) {
    if (!hopeless(w->first, w->second.first)) {
      ++w;
      continue;
    }
    cancelled.push_back(std::move(w->second.second));
    w = waiters_.erase(w);
  }
  for (const Waiter& waiter : cancelled) waiter(std::nullopt);
}

const Message* Mailbox::kept(const Key& key) const {
  const auto it = ready_.find(key);
  return it == ready_.end() ? nullptr : &it->second;
}

std::size_t Mailbox::kept(PeerId from, Kind kind) const {
  const auto first = ready_.lower_bound({from, kind, 0, 0});
  const auto last = std::find_if(first, ready_.end(), [&](const auto& entry) {
    return entry.first.from != from || entry.first.kind != kind;
  });
  return static_cast<std::size_t>(std::distance(first, last));
}

bool Mailbox::closed(const Key& key) const {
  const auto it = closed_.find(key.from);
  if (it == closed_.end()) return false;
  return is_channel(key.kind) || key.number >= it->second;
}

}  // namespace gv
