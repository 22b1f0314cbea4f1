#include "gossip/mailbox.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gossip/mutant.h"

namespace gv {

bool Mailbox::deliver(Message message) {
  const Key key{message.from, message.kind, message.step, message.part};
  if (auto it = waiters_.find(key); it != waiters_.end()) {
    const Waiter waiter = std::move(it->second);
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
  return closed(key.from, key.step);
}

void Mailbox::wait(const Key& key, Waiter waiter) {
  waiters_.emplace(key, std::move(waiter));
}

void Mailbox::close(PeerId from, Step step) {
  const auto [it, inserted] = closed_.try_emplace(from, step);
  it->second = std::min(it->second, step);
  disappoint([this](const Key& key) { return closed(key.from, key.step); });
}

void Mailbox::interrupt(PeerId from) {
  if (mutant(Mutant::ignore_interrupt)) return;
  disappoint([from](const Key& key) { return key.from == from; });
}

void Mailbox::forget(PeerId from) {
  std::erase_if(ready_, [from](const auto& entry) { return entry.first.from == from; });
  closed_.erase(from);
  interrupt(from);
}

void Mailbox::disappoint(const std::function<bool(const Key&)>& hopeless) {
  std::vector<Waiter> disappointed;
  for (auto w = waiters_.begin(); w != waiters_.end();) {
    if (!hopeless(w->first)) {
      ++w;
      continue;
    }
    disappointed.push_back(std::move(w->second));
    w = waiters_.erase(w);
  }
  for (const Waiter& waiter : disappointed) waiter(std::nullopt);
}

const Message* Mailbox::kept(const Key& key) const {
  const auto it = ready_.find(key);
  return it == ready_.end() ? nullptr : &it->second;
}

bool Mailbox::closed(PeerId from, Step step) const {
  const auto it = closed_.find(from);
  return it != closed_.end() && step >= it->second;
}

}  // namespace gv
