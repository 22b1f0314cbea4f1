#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gossip/session.h"
#include "optim/rng.h"
#include "peer/sim/sim_world.h"
#include "peer/wire/frame.h"

namespace gv {

/// What can go wrong in a simulated fleet.
enum class Fault : std::uint8_t { reset, corrupt, duplicate, cut_off, pause, slow };
inline constexpr std::array<std::string_view, 6> fault_names{
    "reset", "corrupt", "duplicate", "cut_off", "pause", "slow"};
using FaultCounts = std::array<std::uint64_t, fault_names.size()>;

/// Paths of the protocol that a swarm must have walked for its silence to mean anything.
enum class Probe : std::uint8_t { sent_again, dropped_repetition, away, back, refused_frame };
inline constexpr std::array<std::string_view, 5> probe_names{
    "sent_again", "dropped_repetition", "away", "back", "refused_frame"};
using ProbeCounts = std::array<std::uint64_t, probe_names.size()>;

/// The network and the processes of a simulated fleet, with faults drawn from a seed. Each edge has
/// a connection that breaks and is made again, and a session on each end that outlives it, as over
/// TCP; frames travel as bytes through the real codec. Swarm testing: each seed switches each class
/// of fault on or off and draws its rate. Groce et al., "Swarm testing", ISSTA 2012. After `until`
/// nothing more goes wrong, and what is broken heals.
class Faults {
 public:
  Faults(SimShared& shared, std::uint64_t seed, Time until);

  void start();
  void send(PeerId from, PeerId to, Message message);
  /// Runs f at `at` on the peer's loop: later, when its process is paused then.
  void run_at(Time at, PeerId peer, std::function<void()> f);
  /// How much longer its arithmetic takes.
  double slowness(PeerId peer) const { return processes_[peer].slowness; }

  const FaultCounts& counts() const { return counts_; }
  const ProbeCounts& probes() const { return probes_; }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  /// One end of an edge.
  struct End {
    PeerId self = 0, other = 0;
    Session session;
    std::uint64_t ack_told = 0;
    Time link_free{0};
    bool away = false;
  };
  struct Edge {
    std::array<End, 2> ends;
    bool up = true;
    bool cut_off = false;       ///< no connection can be made
    std::uint64_t outages = 0;  ///< a frame of an earlier connection is lost
  };
  struct Process {
    Time paused_until{0};
    double slowness = 1;
    std::vector<std::function<void()>> waiting;  ///< for the end of the pause
  };
  using Bytes = std::vector<std::byte>;

  Edge& edge_of(PeerId a, PeerId b);
  End& end_of(Edge& edge, PeerId self) { return edge.ends[edge.ends[0].self == self ? 0 : 1]; }
  bool healed() const;
  bool awake(PeerId peer) const;
  void count(Fault fault) { ++counts_[static_cast<std::size_t>(fault)]; }
  void count(Probe probe) { ++probes_[static_cast<std::size_t>(probe)]; }
  bool strikes(Fault fault);

  void transmit(Edge& edge, End& from, const Session::Numbered& numbered);
  void transmit(Edge& edge, End& from, Bytes frame);
  void arrive(Edge& edge, End& at, std::uint64_t outage, const Bytes& frame);
  void resume(PeerId peer);
  void take(Edge& edge, End& at, wire::Header header);
  void break_link(Edge& edge);
  void reconnect(Edge& edge, std::uint64_t outage);
  void set_away(Edge& edge, End& end);
  void plan_next(Fault fault);
  void strike(Fault fault);
  Edge& random_edge();
  Time random_time(Time least, Time most);

  SimShared& shared_;
  Rng rng_;
  Time until_;
  BufferPool pool_;
  std::map<std::pair<PeerId, PeerId>, Edge> edges_;
  std::vector<Process> processes_;
  std::array<double, fault_names.size()> rates_{};  ///< per second, or per frame; 0: off
  FaultCounts counts_{};
  ProbeCounts probes_{};
  std::vector<std::string> violations_;
};

}  // namespace gv
