#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "gossip/link/frames.h"
#include "gossip/world.h"

namespace gv {

/// Jobs of arithmetic that a process has done, and whether it is on another one.
struct JobCount {
  std::uint64_t jobs = 0;
  bool working = false;
};

/// Watches a count of jobs: a process that lives and answers may still be stuck in one.
class JobWatch {
 public:
  /// Returns whether there is a job at hand, or one was done since at_hand() was last asked.
  bool gets_on(const JobCount& work) const { return work.working || work.jobs != jobs_; }
  /// Returns how long the job at hand has been going on at `now`, as far as was seen.
  Time at_hand(const JobCount& work, Time now) {
    if (work.jobs != jobs_ || !work.working) {
      jobs_ = work.jobs;
      since_ = now;
      told_ = false;
    }
    return now - since_;
  }
  /// True once for each job.
  bool first_word() { return !std::exchange(told_, true); }

 private:
  std::uint64_t jobs_ = 0;
  Time since_{0};
  bool told_ = false;
};

/// One connection of a process with another one; never used twice.
using ConnectionId = std::uint64_t;

/// The events of a link, for whoever counts.
enum class LinkEvent : std::uint8_t {
  lost,     ///< its connection has ended
  silent,   ///< because nothing was heard for too long
  refused,  ///< because of a frame that is nonsense
  away,     ///< the user was told so; and so on
  died,
  back,
  replaced,    ///< about to be told
  sent_again,  ///< a message went over another connection
  repetition,  ///< a message came again, and was dropped
};

/// The services that a link layer asks of the world around it: sockets and timers, or events in
/// virtual time. Every call returns at once; what comes of it is told to the LinkLayer later, never
/// from inside the call.
class Carrier {
 public:
  virtual ~Carrier() = default;

  /// Connects to where the neighbour listens: LinkLayer::connected or LinkLayer::ended follows.
  virtual void dial(PeerId neighbor, ConnectionId connection) = 0;
  /// LinkLayer::nobody_listens follows if nobody listens at the neighbour's address.
  virtual void probe(PeerId neighbor) = 0;
  /// Sends in order. Over a connection that has ended: nothing.
  virtual void send(ConnectionId connection, const Frame& frame) = 0;
  /// The other side has proved to be this neighbour, by this Hello: from now on messages may come.
  virtual void admit(ConnectionId connection, PeerId neighbor, const Hello& theirs) = 0;
  /// Nothing more is sent after what waits; the connection stays until the other side ends it, so
  /// that the last frame is not lost.
  virtual void finish(ConnectionId connection) = 0;
  /// Closes at once. Nothing more is told of this connection.
  virtual void close(ConnectionId connection) = 0;
  /// LinkLayer::on_time is to be called then; replaces what was asked for before.
  virtual void wake_at(Time time) = 0;

  virtual std::string address(PeerId neighbor) const = 0;  ///< for the log
  virtual JobCount work() const = 0;                       ///< of our own arithmetic

  /// There are enough links: the algorithm may begin. Once.
  virtual void begin() = 0;
  /// It can never begin.
  virtual void fail(const std::string& why) = 0;
  /// The same, because a neighbour is of another fleet or another model than ours.
  virtual void fail_unfit(const std::string& why) { fail(why); }
  /// Nothing is owed to anybody any more, or nobody is waited for any longer. Once.
  virtual void leave() = 0;
  /// One line, without its end, for whoever watches this peer.
  virtual void say(const std::string& line) = 0;
  virtual void note(LinkEvent, PeerId) {}
  /// A message that was sent before is about to be sent over another connection.
  virtual void repeats(PeerId, const Message&) {}
};

}  // namespace gv
