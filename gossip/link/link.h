#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "gossip/link/carrier.h"
#include "gossip/link/link_settings.h"
#include "gossip/link/session.h"
#include "gossip/seam/world.h"
#include "optim/rng.h"

namespace gv {

/// The times at which a neighbour is dialled again. The pauses grow by half from `first` to
/// `slowest`, with jitter so that a neighbourhood does not dial in step; a link that breaks before
/// it has carried a message, or has lived for `slowest`, counts as another failure.
/// Invariant: at most one attempt is under way, and between two that fail there is at least half of
/// the present pause.
///
///   resting  --wanted-->  pausing (for nothing, or for a pause when the last link died at once)
///   pausing  --dialled--> dialling
///   dialling --failed-->  pausing
///   any      --linked-->  resting
///   any      --rest-->    resting
class Redial {
 public:
  enum class State : std::uint8_t { resting, pausing, dialling };

  Redial(Time first, Time slowest) : first_(first), slowest_(slowest), pause_(first) {}

  State state() const { return state_; }
  /// Returns when the pause ends; while `pausing`.
  Time due() const { return due_; }

  void wanted(Time now, Rng& jitter);
  void dialled() { state_ = State::dialling; }
  void failed(Time now, Rng& jitter);
  void linked(Time now);
  void useful() { fresh_ = false; }  ///< a message went or came over it
  void rest() { state_ = State::resting; }

 private:
  void pause(Time now, Rng& jitter);

  Time first_, slowest_;
  State state_ = State::resting;
  Time pause_;  ///< before the next attempt, on the average
  Time due_{0};
  Time linked_at_{0};
  bool fresh_ = false;  ///< the last link has not carried a message yet
};

/// Limits how far a peer believes its neighbours' clocks. A clock that is far ahead makes the peer
/// pass over rounds, and one far beyond the run's end would end it: so a single neighbour is not
/// believed if another one could know better. Invariant: a clock more than `slack` rounds ahead of
/// ours, or beyond `rounds`, is believed only as far as a second neighbour has claimed it too, or
/// as the rounds that we have done, alone or not: believing those skips none. If all others are
/// away, the last one is believed as far as the elapsed time allows at the mean pace before. If
/// only one neighbour is left, the measure is twice the fastest pace that was seen here, and a
/// process that was never level with it believes it wholly.
class ClockBound {
 public:
  /// `slack`: rounds by which clocks differ in every fleet, so that such a lead has no effect.
  /// `successor`: until it was level with another neighbour, it needs no claim of absent ones.
  /// Otherwise it would stay hundreds of rounds late meanwhile.
  ClockBound(std::size_t neighbors, Round rounds, Round slack, bool successor = false)
      : neighbors_(neighbors), rounds_(rounds), slack_(slack), successor_(successor) {}

  /// Returns the clock to believe when `from` claims `claim`; ours is `own`, after `done` rounds.
  Round believe(PeerId from, Round claim, Round own, Time now, Round done = 0);
  /// The neighbour has died or left: its claims are not needed for belief.
  void leaves(PeerId neighbor) { gone_.insert(neighbor); }
  /// The neighbour does not answer now.
  void goes_away(PeerId neighbor) { away_.insert(neighbor); }
  void returns(PeerId neighbor) {
    gone_.erase(neighbor);
    away_.erase(neighbor);
  }

 private:
  struct Claim {
    Round clock = 0;
    bool was_level = false;  ///< its clock and ours were once within `slack`
    Round level = 0;         ///< ours then, when they were so for `settled` at least
    Time level_at{0};
    std::optional<Time> level_since{};  ///< none if they are not so now
    Time heard_at{0};
    double pace = 0;  ///< our mean pace until then, in rounds per second
  };
  /// After an absence or a standstill an old message brings an old clock, with which ours is level
  /// for a moment.
  static constexpr Time settled = std::chrono::seconds(1);
  void watch_pace(Round own, Time now);
  Round others_claim(PeerId from) const;
  Round allowed_alone(PeerId from, const Claim& claim, Time now) const;

  std::size_t neighbors_;
  Round rounds_;
  Round slack_;
  bool successor_;
  std::map<PeerId, Claim> claims_;
  std::set<PeerId> gone_, away_;
  Time watched_at_{0};
  Round watched_ = 0;
  bool jumped_ = false;                        ///< a neighbour far ahead was believed since then
  double fastest_ = 0;                         ///< rounds per second
  double rounds_seen_ = 0, seconds_seen_ = 0;  ///< without such jumps
};

/// Limits the log lines that another program may cause between two heartbeats, and counts the rest.
class LineBudget {
 public:
  static constexpr int most = 5;

  /// Counts one more line, and returns whether to log it.
  bool spend() { return ++lines_ <= most; }
  /// A new heartbeat begins. Returns the number of lines left out since the last one.
  int renew() {
    const int lines = std::exchange(lines_, 0);
    return lines > most ? lines - most : 0;
  }

 private:
  int lines_ = 0;
};

/// The time without data on one connection. A whole frame ends the silence; so do the bytes of a
/// frame still under way, at a minimum rate, so that a large frame on a slow link arrives and an
/// occasional byte does not keep a connection. Invariant: a neighbour that sends neither a frame
/// nor `least_rate` bytes per second is silent after `dead_after`.
class Silence {
 public:
  enum class State : std::uint8_t { heard, suspected, silent };
  static constexpr std::int64_t least_rate = 8192;  ///< bytes per second

  explicit Silence(Time dead_after) : dead_after_(dead_after) {}

  void hear_frame(Time now) { heard_ = now; }
  void hear_bytes(std::uint64_t bytes, Time now) {
    constexpr std::uint64_t most = 1 << 30;  // no overflow: half a day of grace is enough
    const auto grace =
        static_cast<std::int64_t>(std::min(bytes, most)) * 1'000'000'000 / least_rate;
    heard_ = std::min(now, heard_ + Time{grace});
  }
  /// Our own loop was late by `lag`, so received data may have been seen late.
  void grant(Time lag) { heard_ += lag; }

  Time length(Time now) const { return now - heard_; }
  State state(Time now) const {
    if (length(now) >= dead_after_) return State::silent;
    return length(now) >= dead_after_ * 2 / 5 ? State::suspected : State::heard;
  }

 private:
  Time dead_after_;
  Time heard_{0};
};

/// The state that the links of one process share.
struct LinkShared {
  const LinkSettings& settings;
  Carrier& carrier;
  LinkUser& user;
  ClockBound clocks;
  Rng jitter;                                  ///< randomizes the pauses between two dials
  bool begun = false;                          ///< the algorithm runs, or has run
  bool ending = false;                         ///< the peer has said goodbye
  bool over = false;                           ///< nothing is done any more
  ConnectionId connections = 0;                ///< number of connections made
  std::map<ConnectionId, PeerId> neighbor_of;  ///< owner of each link's present and last connection
  Time armed = Time::max();                    ///< time at which the carrier wakes us

  void wake_at(Time time) {
    if (time >= armed || over) return;
    armed = time;
    carrier.wake_at(time);
  }
};

/// The conversation of one process with one neighbour, over all their connections. It has no clock
/// and no socket: every event brings the time, and calls to the carrier or the user come last,
/// because they may lead back here. Invariant: the user believes in the neighbour exactly while the
/// link is unmet, linked or broken. A neighbour that has said goodbye has sent everything, so the
/// link does not report its absence: its messages still count. The link reports its death if it
/// left before its last round, because a successor may then come.
///
///   unmet    no process has answered as this neighbour yet
///   linked   a connection carries frames
///   clogged  as linked, but the user continues without it until it acknowledges what it was sent
///   broken   the connection has ended not long ago, and the user does not know
///   away     the user continues without it
///   dead     away, and its process has ended
///
///   unmet    --a Hello that fits--------------> linked
///   unmet    --the algorithm begins without it-> away     away()
///   linked   --the connection ends------------> broken
///   linked   --silence, too much is kept------> away      away()
///   broken   --a Hello that fits--------------> linked
///   broken   --reconnect_within, a refusal----> away      away()
///   broken   --nothing listens at its address-> dead      away(), died()
///   away     --nothing listens at its address-> dead      died()
///   away, dead --a Hello that fits------------> linked    back(), or clogged
///   clogged  --enough is acknowledged---------> linked    back()
///   clogged  --the connection ends------------> away
///   clogged, away --as much again is kept------> dead      died(); for good
///   any      --a Hello of a new process-------> linked    replaced()
class Link {
 public:
  enum class State : std::uint8_t { unmet, linked, clogged, broken, away, dead };

  Link(PeerId neighbor, LinkShared& shared);

  void send(Message message, Time now);

  // Connections.
  Hello hello() const;
  /// Returns why this process may not be the neighbour now; empty if it may. A new one takes only
  /// the place of one that has died; a connection may outlast its process when a machine dies, so
  /// silence counts as death.
  std::string objection(const Hello& theirs, Time now) const;
  /// Takes the connection over which `theirs` came, and which our Hello has answered.
  void adopt(ConnectionId connection, const Hello& theirs, Time now);
  void connected();
  void arrived(ConnectionId connection, Frame frame, Time now);
  void hear_bytes(ConnectionId connection, std::uint64_t bytes, Time now) {
    if (connection == connection_) silence_.hear_bytes(bytes, now);
  }
  void ended(ConnectionId connection, const std::string& why, Time now);
  void nobody_listens(const std::string& why, Time now);
  /// A process that fits and was refused has spoken for the neighbour. If the algorithm takes no
  /// successor, another incarnation shows that the process that we met is gone for good.
  void hear_refused(const Hello& theirs, const std::string& why, Time now);
  /// No connection is made before `until`.
  void cut(Time until, Time now);

  // Time.
  void dial(Time now);  ///< from now on, until there is a link
  /// `lag`: time by which our own loop was late.
  void beat(Time lag, Time now);
  void on_time(Time now);
  /// Returns the next time after `now` at which on_time() has something to do; Time::max() if none.
  Time next(Time now) const;

  // The start and the end.
  void begin_without(Time now);
  bool may_leave(Time now) const;
  void say_awaited();
  void say_not_back() const;

  State state() const { return state_; }
  bool linked() const { return state_ == State::linked || state_ == State::clogged; }
  bool met() const { return incarnation_ != 0; }
  bool trained() const { return life_.trained; }
  bool departed() const { return life_.departed; }
  /// Returns whether it has acknowledged so little that nothing is kept for its process any more.
  bool given_up() const { return life_.given_up; }
  std::uint64_t incarnation() const { return incarnation_; }
  const Session& session() const { return *life_.session; }
  const std::string& trouble() const { return trouble_; }
  void set_trouble(const std::string& why) { trouble_ = why; }

 private:
  /// The state that ends with the neighbour's process.
  struct Life {
    std::unique_ptr<Session> session;
    std::uint64_t ack_told = 0;
    std::uint64_t transmitted = 0;      ///< the greatest number that was sent
    std::uint64_t bytes_since_ack = 0;  ///< bytes of payload received since then
    ModelRequest request;
    JobWatch progress;      ///< its arithmetic, according to its heartbeats
    bool trained = false;   ///< had completed a round when we met it
    bool departed = false;  ///< its goodbye is here
    bool finished = false;  ///< its goodbye came after its last round: no successor follows
    std::uint64_t allowed_bytes = std::numeric_limits<std::uint64_t>::max();  ///< while away
    bool given_up = false;
  };

  bool we_dial() const { return shared_.settings.dials(neighbor_); }
  /// Returns whether the end of this link is expected, so that no line is logged for it.
  bool quiet() const { return life_.departed || shared_.ending; }
  bool is_away() const { return state_ == State::away || state_ == State::dead; }
  void say(const std::string& line);
  void note(LinkEvent event) { shared_.carrier.note(event, neighbor_); }

  std::uint64_t received_by(const Hello& theirs) const;
  void dial_now(Time now);
  void give_up_dial(const std::string& why, Time now);
  void answered(const Frame& frame, Time now);
  Time refusal_patience() const;
  void refused(const std::string& reason, Time now);
  std::string take(Frame& frame, Time now);
  std::string take_message(NumberedMessage& frame, Time now);
  void take_heartbeat(const Heartbeat& heartbeat, Time now);
  std::string take_ack(std::uint64_t ack);
  void hear_clock(Round clock, Time now);
  void transmit(const Session::Numbered& numbered);
  void send_heartbeat();
  bool owes_ack() const;
  bool overfull() const;
  bool hopeless() const;
  void allow_as_much_again();
  std::string unacknowledged() const;
  void unclog();
  void tell_back();
  void close();
  void forget();
  void lose(const std::string& why, Time now);
  void set_away(const std::string& why, Time now);
  void go_without(const std::string& why, Time now);
  void say_dead();
  void give_up(Time now);
  Time awaited_since() const;

  PeerId neighbor_;
  LinkShared& shared_;
  State state_ = State::unmet;
  std::uint64_t incarnation_ = 0;  ///< process that the session is with; 0: not met yet
  Life life_;
  ConnectionId connection_ = 0;       ///< while linked, clogged, or dialling; 0: none
  ConnectionId last_connection_ = 0;  ///< its remaining frames do not count
  Redial redial_;
  Time dial_ends_{0};  ///< while dialling: time at which to give up
  Silence silence_;
  bool suspected_ = false;
  Time broken_until_{0};  ///< while broken
  Time away_since_{0};
  Time cut_until_{0};
  bool awaited_ = false;   ///< away at our end, and logged
  std::string trouble_;    ///< why there is no link
  bool refusing_ = false;  ///< before the start: its last answer was a refusal
  Time refused_since_{0};
  LineBudget lines_;
};

}  // namespace gv
