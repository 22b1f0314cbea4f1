#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gossip/link/handshake.h"
#include "gossip/link/link.h"

namespace gv {

/// All conversations of one process: it decides who may come in, when enough links exist to begin,
/// when signs of life are due, and when no other peer needs a message any more. No clock, no
/// socket, no thread: a carrier brings events and the time, one at a time, and carries out requests
/// (carrier.h). Invariant: begin() is called once, then leave() once; or fail(), and nothing after
/// it.
///
///   gathering --every neighbour met, or some of a fleet that trains--> running   begin()
///   gathering --times.connect, a lasting refusal--------------------> over      fail()
///   running   --end()-----------------------------------------------> ending
///   ending    --nothing is owed, or times.farewell------------------> over      leave()
class LinkLayer {
 public:
  /// `seed`: for the jitter between two dials. The carrier and the user must outlive it.
  LinkLayer(LinkSettings settings, Carrier& carrier, LinkUser& user, std::uint64_t seed);
  LinkLayer(const LinkLayer&) = delete;
  LinkLayer& operator=(const LinkLayer&) = delete;

  // From the peer.
  void start(Time now);
  void send(PeerId to, Message message, Time now);
  void end(Time now);  ///< the peer has said goodbye
  /// No connection with this neighbour is made before `until`, and one that is there ends.
  void cut(PeerId neighbor, Time until, Time now);

  // From the carrier.
  void connected(ConnectionId connection, Time now);
  /// Properties of an incoming connection.
  struct Coming {
    bool known = false;    ///< its address is a neighbour's
    bool crowded = false;  ///< this process can hardly have more connections: another one is closed
    std::string origin{};  ///< IPv6 network whose addresses count as one; if empty, the host
  };
  /// Another process has connected to us; returns the number of the connection.
  ConnectionId accepted(const std::string& host,
                        std::uint16_t port,
                        Time now,
                        const Coming& coming = {.known = false, .crowded = false, .origin = {}});
  void arrived(ConnectionId connection, Frame frame, Time now);
  /// `bytes` bytes came, of a frame that may not be complete yet.
  void hear_bytes(ConnectionId connection, std::uint64_t bytes, Time now);
  /// An invalid frame came over it. ended() follows.
  void no_frame(ConnectionId connection);
  /// Nothing more will come, or an invalid frame came; the carrier has closed the connection.
  void ended(ConnectionId connection, const std::string& why, Time now);
  void nobody_listens(PeerId neighbor, const std::string& why, Time now);
  void on_time(Time now);

  /// Returns the number of the neighbour's process that the session is with; 0: not met yet.
  std::uint64_t incarnation(PeerId neighbor) const { return links_.at(neighbor).incarnation(); }
  const Link& link(PeerId neighbor) const { return links_.at(neighbor); }
  bool over() const { return shared_.over; }

 private:
  Link* link_of(ConnectionId connection);
  void greet(ConnectionId connection, const Frame& frame, Time now);
  std::string objection(const Frame& frame, Time now) const;
  void refuse(PendingConnection& pending, const std::string& reason);
  void say_refusal(const PendingConnection& pending, const std::string& reason);
  void dismiss_overdue(Time now);
  void begin_when_complete();
  void begin_with_some(Time now);
  void begin();
  void beat(Time now);
  void leave_when_told(Time now);
  void leave();
  void wake_again(Time now);
  std::string missing() const;

  LinkSettings settings_;
  LinkShared shared_;
  std::map<PeerId, Link> links_;
  PendingConnections pending_;
  LineBudget pending_lines_;
  Time next_beat_{0};
  Time next_join_{0};  ///< while gathering, of a fleet with successors
  Time connect_until_{0};
  Time farewell_until_{0};
};

}  // namespace gv
