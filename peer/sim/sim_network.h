#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gossip/session.h"
#include "peer/sim/dice.h"
#include "peer/sim/processes.h"
#include "peer/sim/sim_world.h"
#include "peer/wire/frame.h"

namespace gv {

/// When an end of a broken connection gives the neighbour up, and how often it is dialled again.
/// The defaults suit fleets whose rounds take about a millisecond.
struct Timing {
  Time reconnect_within{std::chrono::milliseconds(20)};
  Time dead_after{std::chrono::milliseconds(40)};
  Time first_redial{std::chrono::milliseconds(1)};
  Time slowest_redial{std::chrono::milliseconds(15)};
};

/// The network of a simulated fleet in which things go wrong. Each edge has a connection that
/// breaks and is made again, and a session on each end that outlives it, as over TCP; frames travel
/// as bytes through the real codec. sim_network.cpp carries frames, sim_links.cpp breaks and makes
/// connections.
class SimNetwork {
 public:
  /// One end of an edge.
  struct End {
    PeerId self = 0, other = 0;
    Session session;
    std::uint64_t other_life = 0;  ///< that the session is with
    std::uint64_t ack_told = 0;
    std::vector<std::byte> incoming;           ///< the beginning of a frame
    std::vector<std::vector<std::byte>> held;  ///< frames that a stalled connection keeps back
    bool stalled = false;                      ///< what it sends does not get through
    bool away = false;
    Time away_since{0};
    bool departed = false;  ///< the other has said goodbye
  };
  struct Edge {
    std::array<End, 2> ends;
    bool up = true;
    bool cut_off = false;       ///< no connection can be made
    std::uint64_t outages = 0;  ///< a frame of an earlier connection is lost
  };

  SimNetwork(SimShared& shared, Dice& dice, Processes& processes, const Timing& timing);

  void send(PeerId from, PeerId to, Message message);
  std::uint64_t life_of_neighbor(PeerId self, PeerId other);

  bool empty() const { return edges_.empty(); }
  Edge& random_edge();
  Edge* find(PeerId a, PeerId b);  ///< null: they are not linked
  /// These return false where there is no connection to harm.
  bool break_link(Edge& edge);
  bool cut_off(Edge& edge, Time length);
  /// A random set of peers is cut off from the others.
  bool partition(Time length);
  /// Neither end hears of it before the silence is too long. `ways`: 1 or 2.
  bool stall(Edge& edge, int ways, Time length);
  void silence(PeerId peer);  ///< nothing is heard of it: its links are given up
  void risen(PeerId peer);    ///< a successor begins, that knows of nobody yet
  /// This peer has said its last words: it ends when it owes nobody anything (farewell.h).
  void leave_in_time(PeerId peer);

  const std::vector<std::string>& violations() const { return violations_; }

 private:
  using Bytes = std::vector<std::byte>;

  Edge& edge_of(PeerId a, PeerId b);
  End& end_of(Edge& edge, PeerId self) { return edge.ends[edge.ends[0].self == self ? 0 : 1]; }
  Time now() const { return shared_.queue.now(); }

  void transmit(Edge& edge, End& from, const Session::Numbered& numbered);
  void transmit(Edge& edge, End& from, Bytes frame);
  void launch(Edge& edge, End& from, const Bytes& frame);
  void arrive(Edge& edge, End& at, const Bytes& bytes);
  void take(Edge& edge, End& at, wire::Header header);
  void end_stall(Edge& edge, End& from);
  void plan_reconnect(Edge& edge);
  void reconnect(Edge& edge);
  bool refused(const Edge& edge) const;
  bool gone(PeerId peer) const { return processes_.dead(peer) || left_[peer]; }
  bool may_leave(const Edge& edge, const End& end) const;
  void set_away(End& end);
  void take_leave(PeerId peer);
  void meet(Edge& edge);

  SimShared& shared_;
  Dice& dice_;
  Processes& processes_;
  Timing timing_;
  BufferPool pool_;
  std::vector<Shaper> shapers_;  ///< by id
  std::map<std::pair<PeerId, PeerId>, Edge> edges_;
  std::vector<bool> left_;  ///< by id: its process has ended well
  std::vector<std::string> violations_;
};

}  // namespace gv
