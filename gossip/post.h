#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/core.h"
#include "gossip/mailbox.h"
#include "gossip/pace.h"
#include "gossip/post_waits.h"
#include "gossip/roster.h"
#include "gossip/task.h"

namespace gv {

/// The end of a wait for anybody's message.
struct Next {
  std::optional<Message> message;  ///< nothing: somebody has left or died, or it is late
  bool late = false;               ///< the deadline has passed
};

/// Sends a peer's messages, keeps what comes until it is asked for, and waits. Invariant: the
/// algorithm waits for one message at a time, and every such wait has an end: the message, the
/// absence of its sender, or faults.deadline; the wait for anybody's ends when one of them is gone.
///
/// The deadline of a collective ends the run, so its clock is a fair one: it stands still while the
/// neighbour is away, and while it says that it waits for somebody itself; and what this peer's own
/// loop is late with is granted. So only the neighbour of a peer that is really stuck gives it up.
/// A neighbour that misbehaves has no such excuse, nor has one that waits, in the end, for us
/// (post_waits.h): if a message was refused, two peers may wait for each other. And a chain of
/// waits lasts no longer than a deadline for each peer of the fleet; beyond twice that, it is an
/// old story or a lie.
class Post {
 public:
  using Awaited = std::function<bool(PeerId)>;  ///< whether a neighbour's message is missing

  Post(PeerCore& self, const Roster& roster, Pace& pace);

  Message letter(Kind kind, std::uint64_t number, std::uint32_t part, Payload payload) const;
  void send(PeerId to, Message message);
  /// `stays`: 0, or stays_for_half (presence.h).
  void say_goodbye(PeerId to, std::uint64_t first_without_us, std::uint32_t stays = 0);

  /// A message of one of the plan's channels. False: none that can be expected.
  bool take(std::size_t k, Message message);
  /// Any other message whose form is right. False: a duplicate.
  bool keep(Message message) { return mailbox_.deliver(std::move(message)); }
  /// See WaitChains::hear.
  bool hear_held_up(std::size_t k, const Message& message);

  /// The message, when it is here or comes. Nothing: its sender has left or is absent, or the
  /// deadline has passed. With Absence::gone that is said, and broken_by() tells of whom.
  Task<std::optional<Message>> receive(Mailbox::Key key, Absence absence);
  /// The oldest message of a channel that keeps a queue, whoever sent it; waits for one until a
  /// neighbour leaves or dies, or `deadline` has passed (0: none). `awaited`: whose messages are
  /// still missing, so that it is held up by them; nobody's: whatever comes is welcome.
  Task<Next> next(Kind kind, Time deadline, Awaited awaited);
  Task<Next> idle(Kind kind);  ///< see Peer::idle
  /// The algorithm has sent something on a channel: nobody is kept waiting from here on.
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
  void refused(std::size_t k);  ///< a frame of it
  /// A flipped bit may spoil a frame or two of an honest neighbour.
  bool misbehaves(std::size_t k) const {
    return self_.plan.deadline > Time{0} && refused_[k] >= most_refusals;
  }
  /// receive() without an end of its own: until the neighbour goes away, even if it is away
  /// already.
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

  void goodbye(PeerId from, std::uint64_t number);
  void away(std::size_t k);
  void died(std::size_t k);
  void back(std::size_t k);
  /// Its place is taken: nothing that it sent is left.
  void replaced(std::size_t k);
  /// The waits for who is absent end.
  void interrupt(std::size_t k, Interruption why, Absence absence = Absence::away);
  /// The algorithm is to stop: from now on even a collective waits only for those who are here.
  void stop();

  /// Says, where nobody has yet, that neighbour k's absence ends a collective.
  void say_broken(std::size_t k);
  /// Returns the neighbour whose death or standstill ended a collective.
  std::optional<PeerId> broken_by() const { return broken_by_; }
  /// Returns the neighbour that finished before this peer and thereby ended a collective.
  std::optional<PeerId> left_by() const { return left_by_; }
  Time longest_wait() const { return longest_wait_; }

  /// The most of what the algorithm took.
  struct Intake {
    Round staleness = 0;    ///< by how many rounds the sender was behind, at the most
    std::size_t queue = 0;  ///< messages that waited on a channel that keeps a queue, at the most
  };
  Intake take_intake() { return std::exchange(intake_, {}); }  ///< since it was last asked for
  /// Returns how many messages were 0, 1, 2, 3-4, 5-8, ... rounds behind.
  const std::vector<std::uint64_t>& staleness() const { return staleness_; }
  std::uint64_t sent_payloads() const { return sent_payloads_; }  ///< bytes

 private:
  friend struct Inspect;  // tests/explore
  struct Wait {
    Mailbox::Key key;
    std::size_t k;  ///< whom for
    Absence absence;
    Time began;
    Time since;      ///< the deadline counts from here
    Time excusable;  ///< until then, who is held up by somebody who is here is excused
  };
  using Stream = std::pair<PeerId, Kind>;
  static constexpr std::uint32_t most_refusals = 8;

  const Channel* channel(Kind kind) const;
  bool talks(std::size_t k) const;  ///< to us, in exchanges or in collective operations
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

  PeerCore& self_;
  const Roster& roster_;
  Pace& pace_;
  Mailbox mailbox_;
  std::map<Stream, std::uint64_t> asked_;  ///< the highest number asked for on a channel
  std::map<Kind, std::deque<Message>> queues_;
  std::function<void()> when_next_;   ///< resumes next()
  const Awaited* awaited_ = nullptr;  ///< by next(), while it waits for somebody's
  WaitChains chains_;
  std::vector<std::uint32_t>
      refused_;  ///< frames of each, since it last gave us what we waited for
  std::optional<Wait> wait_;
  std::uint64_t waits_ = 0;
  std::uint64_t nexts_ = 0;  ///< changes with each beginning and end of next()
  Time answered_{0};         ///< when the algorithm last sent something on a channel
  bool told_ = false;        ///< our neighbours know that we are held up,
  /// The facts that a neighbour knows of our waits.
  struct Told {
    std::optional<WaitChains::End> by;  ///< who holds us up in the end; nothing: nobody does
    Time paid{0};                       ///< a pause for each word so far, from when it was said
    bool farewell = false;              ///< nothing is told any more: our goodbye is said
  };
  std::vector<Told> told_each_;  ///< by neighbour
  bool telling_ = false;         ///< the timer of pass_on_later() runs
  bool watching_ = false;        ///< a deadline's timer runs
  bool stopping_ = false;
  Time longest_wait_{0};
  Intake intake_;
  std::vector<std::uint64_t> staleness_;
  std::uint64_t sent_payloads_ = 0;
  std::optional<PeerId> broken_by_, left_by_;
};

}  // namespace gv
