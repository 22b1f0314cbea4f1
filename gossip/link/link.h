#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gossip/link/carrier.h"
#include "gossip/link/clock_bound.h"
#include "gossip/link/link_settings.h"
#include "gossip/link/redial.h"
#include "gossip/link/session.h"
#include "gossip/world.h"
#include "optim/rng.h"

namespace gv {

/// The lines of the log that another program may cause between two heartbeats. The rest is counted.
class LineBudget {
 public:
  static constexpr int most = 5;

  /// Counts one more line, and returns whether it may be said.
  bool spend() { return ++lines_ <= most; }
  /// A new heartbeat begins; how many lines were left out since the last one.
  int renew() {
    const int lines = std::exchange(lines_, 0);
    return lines > most ? lines - most : 0;
  }

 private:
  int lines_ = 0;
};

/// The time in which nothing was heard over one connection. A whole frame breaks the silence; so do
/// the bytes of a frame that is still on its way, at a least rate, so that a large frame on a slow
/// link arrives and a byte now and then does not keep a connection.
/// Invariant: a neighbour that sends neither a frame nor `least_rate` bytes per second is silent
/// after `dead_after`.
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
  /// We were ourselves held up for so long, and may have heard late.
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
  Rng jitter;                                  ///< of the pauses between two dials
  bool begun = false;                          ///< the algorithm runs, or has run
  bool ending = false;                         ///< it has said its last words
  bool over = false;                           ///< nothing is done any more
  ConnectionId connections = 0;                ///< so many have had a number
  std::map<ConnectionId, PeerId> neighbor_of;  ///< each link's present connection, and its last
  Time armed = Time::max();                    ///< when the carrier is to wake us

  void wake_at(Time time) {
    if (time >= armed || over) return;
    armed = time;
    carrier.wake_at(time);
  }
};

/// The conversation of one process with one neighbour, over all their connections. It has no clock
/// and no socket: every event brings the time, and what follows is asked of the carrier or told to
/// the user, always last, since that may lead back here.
/// Invariant: the user believes in the neighbour exactly while the link is unmet, linked or broken.
/// One that has said goodbye has sent all that it ever will, so that its going away is not told:
/// what came of it still counts. That it has died is told where it left before its last round, as
/// then a successor of it may come.
///
///   unmet    nobody has answered as this neighbour yet
///   linked   a connection carries frames
///   clogged  the same, but the user goes on without it until it acknowledges what it was sent
///   broken   the connection has ended not long ago, and the user does not know
///   away     the user goes on without it
///   dead     away, and its process has ended
///
///   unmet    --a Hello that fits--------------> linked
///   unmet    --the algorithm begins without it-> away     away()
///   linked   --the connection ends------------> broken
///   linked   --silence, too much is kept------> away      away()
///   broken   --a Hello that fits--------------> linked
///   broken   --reconnect_within, a refusal----> away      away()
///   broken   --nobody listens at its address--> dead      away(), died()
///   away     --nobody listens at its address--> dead      died()
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
  /// Returns why this process may not be the neighbour now; empty: it may. A new one takes only the
  /// place of one that has died; a connection may outlast its process when a machine dies, so
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
  /// A process that fits and was refused has spoken for the neighbour. Where the algorithm takes no
  /// successor, one of another incarnation shows that the process that we met is gone for good.
  void hear_refused(const Hello& theirs, const std::string& why, Time now);
  /// No connection is made before `until`.
  void cut(Time until, Time now);

  // Time.
  void dial(Time now);  ///< from now on, until there is a link
  /// `lag`: we were ourselves held up for so long.
  void beat(Time lag, Time now);
  void on_time(Time now);
  /// Returns when on_time() has something to do, after `now`; Time::max(): nothing.
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
  /// It has acknowledged so little that nothing is kept for its process any more.
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
    std::uint64_t bytes_since_ack = 0;  ///< of payload that came
    ModelRequest request;
    JobWatch progress;      ///< of its arithmetic, as its heartbeats tell
    bool trained = false;   ///< had completed a round when we met it
    bool departed = false;  ///< its goodbye is here
    bool finished = false;  ///< it said that after its last round: nobody takes its place
    std::uint64_t allowed_bytes = std::numeric_limits<std::uint64_t>::max();  ///< while away
    bool given_up = false;
  };

  bool we_dial() const { return shared_.settings.dials(neighbor_); }
  /// Its end is no news.
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
  std::uint64_t incarnation_ = 0;  ///< of the process that the session is with; 0: not met yet
  Life life_;
  ConnectionId connection_ = 0;       ///< while linked, clogged, or dialling; 0: none
  ConnectionId last_connection_ = 0;  ///< whose frames may still come, and do not count
  Redial redial_;
  Time dial_ends_{0};  ///< while dialling: when its time is up
  Silence silence_;
  bool suspected_ = false;
  Time broken_until_{0};  ///< while broken
  Time away_since_{0};
  Time cut_until_{0};
  bool awaited_ = false;   ///< away at our end, and we have said so
  std::string trouble_;    ///< why there is no link
  bool refusing_ = false;  ///< before the start: the last that was heard of it is a refusal
  Time refused_since_{0};
  LineBudget lines_;
};

}  // namespace gv
