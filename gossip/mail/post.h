#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/core/pace.h"
#include "gossip/mail/mailbox.h"
#include "gossip/mail/post_waits.h"
#include "gossip/seam/task.h"

namespace gv {

/// The end of a wait for a message of any sender.
struct Next {
  std::optional<Message> message;  ///< none if a neighbour has gone, or the wait is late
  bool late = false;               ///< the deadline has passed
};

/// Sends a peer's messages, keeps received ones until the algorithm asks for them, and waits.
/// Invariant: the algorithm waits for one message at a time, and every such wait ends: with the
/// message, with the absence of its sender, or with faults.deadline. A wait for any sender ends
/// when a neighbour has gone.
///
/// The deadline of a collective ends the run, so its clock must be fair: it stands still while the
/// neighbour is away and while the neighbour reports that it waits for another peer, and delays of
/// our own loop do not count. So only the neighbour of a peer that is really stuck gives it up. A
/// neighbour that misbehaves has no such excuse, nor has one that waits, in the end, for us
/// (post_waits.h): after a refused message two peers may wait for each other. A chain of waits
/// lasts at most a deadline for each peer of the fleet; reports of twice that are outdated or lies.
class Post {
 public:
  using Awaited = std::function<bool(PeerId)>;  ///< true if a neighbour's message is missing

  Post(PeerCore& self, const Roster& roster, Pace& pace);

  Message make_message(Kind kind, std::uint64_t number, std::uint32_t part, Payload payload) const;
  void send(PeerId to, Message message);
  /// `stays`: 0, or stays_for_half (presence.h).
  void say_goodbye(PeerId to, std::uint64_t first_without_us, std::uint32_t stays = 0);

  /// Takes a message of one of the plan's channels. Returns false if it cannot be expected.
  bool take(std::size_t k, Message message);
  /// Keeps any other message whose form is right. Returns false if it is a duplicate.
  bool keep(Message message) { return mailbox_.deliver(std::move(message)); }
  /// Takes a neighbour's word that it waits: see WaitChains.
  bool hear_held_up(std::size_t k, const Message& message);

  /// Waits for the message. Returns nothing if its sender has left or is absent, or the deadline
  /// has passed. With Absence::gone that is logged, and broken_by() returns the sender.
  Task<std::optional<Message>> receive(Mailbox::Key key, Absence absence);
  /// Returns the oldest message of a channel that keeps a queue, from any sender; waits for one
  /// until a neighbour leaves or dies, or `deadline` has passed (0: none). `awaited`: the senders
  /// whose messages are missing, so that they hold up this peer; if empty, any message is welcome.
  Task<Next> next(Kind kind, Time deadline, Awaited awaited);
  Task<Next> idle(Kind kind);  ///< see Peer::idle
  /// The algorithm has sent something on a channel: no peer is kept waiting from here on.
  void has_answered();
  void wake_next();
  bool waiting(Kind kind) const {
    const auto queue = queues_.find(kind);
    return queue != queues_.end() && !queue->second.empty();
  }
  /// Returns whether neighbour k may still send something.
  bool expects(std::size_t k) const {
    return !roster_.dead(k) && !mailbox_.closed(self_.neighbors[k].peer);
  }
  void refused(std::size_t k);  ///< counts a refused frame
  /// A flipped bit may spoil a frame or two of an honest neighbour.
  bool misbehaves(std::size_t k) const {
    return self_.plan.deadline > Time{0} && refused_[k] >= most_refusals;
  }
  /// receive() without a deadline: until the neighbour goes away, even if it is away already.
  Receive arrival(Mailbox::Key key) { return {mailbox_, key, Absence::away, {}}; }
  const Message* kept(const Mailbox::Key& key) const { return mailbox_.kept(key); }
  /// Drops messages below this number; waits for them end without a message.
  void drop_below(const Mailbox::Key& key) { mailbox_.drop(key.from, key.kind, 0, key.number); }
  /// Drops the messages of this number, likewise.
  void drop(const Mailbox::Key& key) {
    mailbox_.drop(key.from, key.kind, key.number, key.number + 1);
  }
  bool closed(const Mailbox::Key& key) const { return mailbox_.closed(key); }
  bool closed(PeerId from) const { return mailbox_.closed(from); }

  /// Ends the wait for a contribution of neighbour k: none will come.
  void end_wait_for(std::size_t k);
  bool said_goodbye(std::size_t k) const { return told_each_[k].farewell; }

  void goodbye(std::size_t k, const Message& message);
  void away(std::size_t k);
  void died(std::size_t k);
  void back(std::size_t k);
  /// A successor has taken its place: drops everything that the old process sent.
  void replaced(std::size_t k);
  /// Ends the waits for an absent neighbour.
  void interrupt(std::size_t k, Interruption why, Absence absence = Absence::away);
  /// The algorithm must stop: from now on even a collective waits only for peers that are here.
  void stop();

  /// Logs once that neighbour k's absence ends a collective.
  void say_broken(std::size_t k);
  /// Returns the neighbour whose death or standstill ended a collective.
  std::optional<PeerId> broken_by() const { return peer_of(broken_); }
  /// Returns the neighbour that finished before this peer and thereby ended a collective.
  std::optional<PeerId> left_by() const { return peer_of(left_); }
  /// Returns the peer that k's goodbye names as the reason why k left early; without one, k itself.
  PeerId first_gone(std::size_t k) const {
    return left_for_[k] ? left_for_[k]->peer : self_.neighbors[k].peer;
  }
  Time longest_wait() const { return longest_wait_; }

  /// Maxima of the messages that the algorithm took.
  struct Intake {
    Round staleness = 0;    ///< greatest number of rounds that a sender was late
    std::size_t queue = 0;  ///< longest queue of a channel that keeps one
  };
  Intake take_intake() { return std::exchange(intake_, {}); }  ///< since the last call
  /// Returns counts of messages that were 0, 1, 2, 3-4, 5-8, ... rounds late.
  const std::vector<std::uint64_t>& staleness() const { return staleness_; }
  std::uint64_t sent_payloads() const { return sent_payloads_; }  ///< bytes

 private:
  friend struct Inspect;  // tests/explore
  struct Wait {
    Mailbox::Key key;
    std::size_t k;  ///< index of the awaited neighbour
    Absence absence;
    Time began;
    Time since;      ///< the deadline counts from here
    Time excusable;  ///< until then, a neighbour that is held up by a peer that is here is excused
  };
  using Stream = std::pair<PeerId, Kind>;
  static constexpr std::uint32_t most_refusals = 8;

  const Channel* channel(Kind kind) const;
  bool talks(std::size_t k) const;  ///< exchanges messages with us, in averaging or in collectives
  bool enqueue(const Channel& channel, Message message);
  void watch_next(Time deadline, bool& late);
  Next oldest(Kind kind);
  void ask(const Mailbox::Key& key);
  Time deadline(Absence absence) const;
  bool excused(std::size_t k) const;
  void begin_wait(const Mailbox::Key& key, std::size_t k, Absence absence);
  void end_wait(const std::optional<Message>& answer);
  void count(const Message& taken);
  void watch(Time delay);
  void check_deadline(Time late);
  void tell_held_up(bool held_up);
  void tell_again();
  void keep_telling(Time first);
  void pass_on();
  Time telling_pause() const;
  bool tell_end(std::size_t k, std::optional<WaitChains::End> by);
  void pass_on_later();
  void tell_changes() {
    if (told_) pass_on();
  }
  void deadline_passed();
  void interrupt_lasting(std::size_t k, Interruption why);
  std::optional<event::CollectiveBroken::Why> hopeless(std::size_t k) const;
  void note_broken(std::size_t k, event::CollectiveBroken::Why why);
  static std::optional<PeerId> peer_of(const std::optional<event::CollectiveBroken>& end) {
    return end ? std::optional(end->peer) : std::nullopt;
  }

  PeerCore& self_;
  const Roster& roster_;
  Pace& pace_;
  Mailbox mailbox_;
  std::map<Stream, std::uint64_t> asked_;  ///< the highest number asked for on a channel
  std::map<Kind, std::deque<Message>> queues_;
  std::function<void()> when_next_;   ///< resumes next()
  const Awaited* awaited_ = nullptr;  ///< argument of next() while it waits for particular senders
  WaitChains chains_;
  std::vector<std::uint32_t>
      refused_;  ///< number of refused frames of each, since it last gave us an awaited message
  std::optional<Wait> wait_;
  std::uint64_t waits_ = 0;
  std::uint64_t nexts_ = 0;  ///< changes with each beginning and end of next()
  Time answered_{0};         ///< when the algorithm last sent something on a channel
  bool told_ = false;        ///< our neighbours know that we are held up
  /// The neighbour's knowledge about our waits.
  struct Told {
    std::optional<WaitChains::End> by;  ///< the peer that holds us up; none: no peer does
    Time paid{0};                       ///< end of the pauses after all words sent
    bool farewell = false;              ///< we took leave and send it nothing more
  };
  std::vector<Told> told_each_;  ///< by neighbour
  bool telling_ = false;         ///< the timer of pass_on_later() runs
  bool watching_ = false;        ///< a deadline's timer runs
  bool stopping_ = false;
  Time longest_wait_{0};
  Intake intake_;
  std::vector<std::uint64_t> staleness_;
  std::uint64_t sent_payloads_ = 0;
  std::optional<event::CollectiveBroken> broken_, left_;
  std::vector<std::optional<event::CollectiveBroken>> left_for_;  ///< by neighbour: its reason
};

}  // namespace gv
