#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>

#include "gossip/message.h"

namespace gv {

/// Messages that came before anyone asked, and askers whose message has not come.
/// Each (from, kind, step, part) is delivered and asked for at most once.
class Mailbox {
 public:
  struct Key {
    PeerId from;
    Kind kind;
    Step step;
    std::uint32_t part;
    auto operator<=>(const Key&) const = default;
  };
  using Waiter = std::function<void(std::optional<Message>)>;

  /// Hands the message to its waiter or keeps it. False when one of the same key is already kept: a
  /// duplicate.
  bool deliver(Message message);
  /// True when there is an answer: the message, or nothing because the sender is closed.
  bool take(const Key& key, std::optional<Message>& answer);
  /// Calls `waiter` when the answer comes; only after take() said there is none.
  void wait(const Key& key, Waiter waiter);
  /// No message of `from` at `step` or later will come: its askers, present and future, get
  /// nothing.
  void close(PeerId from, Step step);
  /// Those who now wait for `from` get nothing; what comes later is kept as ever.
  void interrupt(PeerId from);
  /// `from` begins anew: nothing of it is kept, its askers get nothing, and it is not closed.
  void forget(PeerId from);
  /// What is kept of this key; null: nothing.
  const Message* kept(const Key& key) const;
  /// True when `from` takes no part in `step`.
  bool closed(PeerId from, Step step) const;

 private:
  void disappoint(const std::function<bool(const Key&)>& hopeless);
  std::map<Key, Message> ready_;
  std::map<Key, Waiter> waiters_;
  std::map<PeerId, Step> closed_;
};

}  // namespace gv
