#pragma once

#include <compare>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "gossip/seam/message.h"
#include "optim/buffer.h"

namespace gv {

/// The kind of absence of a neighbour that ends a wait for it.
enum class Absence : std::uint8_t {
  away,    ///< its silence: averaging continues without it
  gone,    ///< only its goodbye or its death: a collective needs all members
  lost,    ///< as gone, but the caller continues without it
  vacant,  ///< as gone, but a dead neighbour may have a successor, which the caller handles
};

/// Messages that nothing has asked for yet, and waiters whose message has not come. Each (from,
/// kind, number, part) is delivered and asked for at most once.
class Mailbox {
 public:
  struct Key {
    PeerId from;
    Kind kind;
    std::uint64_t number;
    std::uint32_t part;
    auto operator<=>(const Key&) const = default;
  };
  using Waiter = std::function<void(std::optional<Message>)>;

  /// Hands the message to its waiter or keeps it. Returns false if its key is already kept.
  bool deliver(Message message);
  /// Returns true if there is an answer: the message, or nothing because the sender is closed.
  bool take(const Key& key, std::optional<Message>& answer);
  /// Calls `waiter` when the answer comes; only after take() returned false.
  void wait(const Key& key, Absence absence, Waiter waiter);
  /// `from` has said goodbye: no contribution of this number or a later one will come, and nothing
  /// more on any channel. Present and future waits for these get nothing.
  void close(PeerId from, std::uint64_t number);
  /// Ends the waits for `from` that such an absence ends, without a message; later messages are
  /// kept as before.
  void interrupt(PeerId from, Absence absence);
  /// `from` begins again: drops its messages, and it is no longer closed.
  void forget(PeerId from);
  /// Drops the messages of `from` on a channel with numbers from `first` on and below `end`; waits
  /// for these end without a message.
  void drop(PeerId from, Kind kind, std::uint64_t first, std::uint64_t end);

  /// Returns the message of this key; null if it is not here.
  const Message* kept(const Key& key) const;
  /// Returns the number of messages of `from` that are kept on a channel.
  std::size_t kept(PeerId from, Kind kind) const;
  bool waited_for(const Key& key) const { return waiters_.contains(key); }
  /// Returns true if this message will not come any more, unless it is here.
  bool closed(const Key& key) const;
  /// Returns true if `from` has said goodbye.
  bool closed(PeerId from) const { return closed_.contains(from); }

 private:
  friend struct Inspect;  // tests/explore
  using Waiting = std::pair<Absence, Waiter>;
  using Hopeless = std::function<bool(const Key&, Absence)>;
  void cancel_waiters(const Hopeless& hopeless);

  template <class Value>
  using Map = std::map<Key, Value, std::less<>, FreeListAllocator<std::pair<const Key, Value>>>;
  Map<Message> ready_;
  Map<Waiting> waiters_;
  std::map<PeerId, std::uint64_t> closed_;  ///< the first number that will not come
};

/// Returns the message of a key, or nothing if its sender has left or the wait was interrupted.
struct Receive {
  Mailbox& mailbox;
  Mailbox::Key key;
  Absence absence;  ///< the absence that ends the wait
  std::optional<Message> answer;
  bool await_ready() { return mailbox.take(key, answer); }
  void await_suspend(std::coroutine_handle<> h) {
    mailbox.wait(key, absence, [this, h](std::optional<Message> m) {
      answer = std::move(m);
      h.resume();
    });
  }
  std::optional<Message> await_resume() { return std::move(answer); }
};

}  // namespace gv
