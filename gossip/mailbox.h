#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "gossip/message.h"
#include "optim/buffer.h"

namespace gv {

/// The absence of a neighbour that ends the wait for it.
enum class Absence : std::uint8_t {
  away,    ///< that nothing is heard of it: averaging goes on without it
  gone,    ///< only its goodbye, or its death: a collective needs everybody
  lost,    ///< the same, but whoever asks goes on without it
  vacant,  ///< as gone, but who has died may have a successor: whoever asks sees to that
};

/// Messages that came before anyone asked, and askers whose message has not come.
/// Each (from, kind, number, part) is delivered and asked for at most once.
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

  /// Hands the message to its waiter or keeps it. False when one of the same key is already kept: a
  /// duplicate.
  bool deliver(Message message);
  /// True when there is an answer: the message, or nothing because the sender is closed.
  bool take(const Key& key, std::optional<Message>& answer);
  /// Calls `waiter` when the answer comes; only after take() said there is none.
  void wait(const Key& key, Absence absence, Waiter waiter);
  /// `from` has said goodbye: no contribution of this number or a later one will come, and nothing
  /// more on any channel. Their askers, present and future, get nothing.
  void close(PeerId from, std::uint64_t number);
  /// Those who wait for `from`, and whose wait ends with such an absence, get nothing; what comes
  /// later is kept as ever.
  void interrupt(PeerId from, Absence absence);
  /// `from` begins again: nothing of it is kept, and it is not closed.
  void forget(PeerId from);
  /// Lets go of what is kept of `from` on a channel from number `first` on and below `end`;
  /// waits for it end without a message.
  void drop(PeerId from, Kind kind, std::uint64_t first, std::uint64_t end);

  /// Returns what is kept of this key; null: nothing.
  const Message* kept(const Key& key) const;
  /// Returns how many messages of `from` are kept on a channel.
  std::size_t kept(PeerId from, Kind kind) const;
  bool waited_for(const Key& key) const { return waiters_.contains(key); }
  /// True when this will not come any more, unless it is here.
  bool closed(const Key& key) const;
  /// True when `from` has said goodbye.
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

}  // namespace gv
