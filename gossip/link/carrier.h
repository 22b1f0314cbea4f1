#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "gossip/seam/message.h"
#include "gossip/seam/world.h"

namespace gv {

/// The first frame of each side of a connection: its identity, and its progress in the session.
struct Hello {
  std::string fleet;  ///< digest of the resolved fleet file
  std::string model;  ///< digest of the parameter names and shapes
  PeerId peer = 0;
  std::uint64_t incarnation = 0;  ///< number of this process; not 0
  std::uint32_t peers = 0;        ///< number in the fleet
  /// Incarnation of the other side's process that our session is with; 0: none yet.
  std::uint64_t neighbor_incarnation = 0;
  std::uint64_t received = 0;  ///< greatest number received in that session
  Round clock = 0;             ///< Peer::clock
  /// Address at which it gives its memory to processes of its own machine; empty if it gives none.
  std::string door = {};
  std::uint64_t machine = 0;  ///< machine whose clock it reads; 0: unknown
  /// A secret of the two ends of this connection, so that a Hello of one is not valid on another.
  /// Empty on a plain connection without a token of the run. The carrier sets and compares it.
  std::string channel = {};
};

/// Sent instead of a Hello: why the connection is refused. Shown to the user on both sides.
struct Refusal {
  std::string reason;
};

/// Sent if there is nothing else to send, or if many messages wait for their acknowledgement.
struct Heartbeat {
  std::uint64_t ack = 0;   ///< greatest number received
  Round clock = 0;         ///< Peer::clock
  std::uint64_t jobs = 0;  ///< jobs of arithmetic done since it began
  bool working = false;    ///< at another job
};

/// A message and its place in the session (session.h).
struct NumberedMessage {
  Message message;
  std::uint64_t number = 0;
  std::uint64_t ack = 0;  ///< greatest number received
};

using Frame = std::variant<Hello, Refusal, Heartbeat, NumberedMessage>;

/// Text from another machine, fit for a terminal and a log: printable ASCII, everything else as
/// \xNN, at most 128 bytes; if it was cut, the last three are dots.
std::string printable(std::string_view text);

/// Number of jobs of arithmetic that a process has done, and whether it is at another one.
struct JobCount {
  std::uint64_t jobs = 0;
  bool working = false;
};

/// Watches a count of jobs: a process that lives and answers may still be stuck in a job.
class JobWatch {
 public:
  /// Returns whether a job is running, or one was finished since the last call of at_hand().
  bool gets_on(const JobCount& work) const { return work.working || work.jobs != jobs_; }
  /// Returns how long the running job has taken at `now`, counted from the first call that saw it.
  Time at_hand(const JobCount& work, Time now) {
    if (work.jobs != jobs_ || !work.working) {
      jobs_ = work.jobs;
      since_ = now;
      told_ = false;
    }
    return now - since_;
  }
  /// Returns true once for each job.
  bool first_word() { return !std::exchange(told_, true); }

 private:
  std::uint64_t jobs_ = 0;
  Time since_{0};
  bool told_ = false;
};

/// One connection of a process with another one; never used twice.
using ConnectionId = std::uint64_t;

/// The events of a link, for counting.
enum class LinkEvent : std::uint8_t {
  lost,     ///< its connection has ended
  silent,   ///< its connection was silent for too long
  refused,  ///< its connection sent an invalid frame
  away,     ///< the user was notified, as are the events below
  died,
  back,
  replaced,    ///< the user is about to be notified
  sent_again,  ///< a message was sent over another connection
  repetition,  ///< a message came again, and was dropped
};

/// The services that a link layer needs from the world around it: sockets and timers, or events in
/// virtual time. Every call returns at once; the LinkLayer gets the results later, never from
/// inside the call.
class Carrier {
 public:
  virtual ~Carrier() = default;

  /// Connects to the neighbour's address: LinkLayer::connected or LinkLayer::ended follows.
  virtual void dial(PeerId neighbor, ConnectionId connection) = 0;
  /// LinkLayer::nobody_listens follows if no process listens at the neighbour's address.
  virtual void probe(PeerId neighbor) = 0;
  /// Sends in order. Does nothing over a connection that has ended.
  virtual void send(ConnectionId connection, const Frame& frame) = 0;
  /// The other side has proved by this Hello to be this neighbour: from now on messages may come.
  virtual void admit(ConnectionId connection, PeerId neighbor, const Hello& theirs) = 0;
  /// Sends nothing after the queued frames; the connection stays until the other side ends it, so
  /// that the last frame is not lost.
  virtual void finish(ConnectionId connection) = 0;
  /// Closes at once, without any further event of this connection.
  virtual void close(ConnectionId connection) = 0;
  /// Calls LinkLayer::on_time at this time; replaces the earlier request.
  virtual void wake_at(Time time) = 0;

  virtual std::string address(PeerId neighbor) const = 0;  ///< for the log
  virtual JobCount work() const = 0;                       ///< work of our own arithmetic

  /// There are enough links: the algorithm may begin. Called once.
  virtual void begin() = 0;
  /// The algorithm can never begin.
  virtual void fail(const std::string& why) = 0;
  /// fail(), because a neighbour is of another fleet or another model than ours.
  virtual void fail_unfit(const std::string& why) { fail(why); }
  /// No peer needs a message from us any more, or the wait for receivers is over. Called once.
  virtual void leave() = 0;
  /// Logs one line, without its end.
  virtual void say(const std::string& line) = 0;
  virtual void note(LinkEvent, PeerId) {}
  /// A message that was sent before is about to be sent over another connection.
  virtual void repeats(PeerId, const Message&) {}
};

}  // namespace gv
