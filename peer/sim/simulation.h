#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/life/recorder.h"
#include "peer/record/observer.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/peer_plan.h"
#include "peer/sim/world/audit.h"
#include "peer/sim/world/fault_injector.h"
#include "peer/sim/world/faults.h"
#include "peer/sim/world/sim_network.h"

namespace gv {

/// The pace and the flows over edges of a fleet without faults: the reference for a run with
/// faults.
///
/// The rule of pace: in no window of the length in which ten undisturbed rounds are done does a
/// peer end more than twice the most rounds that it ended in any such window undisturbed, whatever
/// happens. Skipped rounds do not count. A fleet may become faster when its slowest peer is
/// missing, so the measure is the same fleet with every peer as fast as the fastest, every link as
/// short as the shortest, and unlimited bandwidth. If a method does not wait, links of the measure
/// take no time. The limit of a fleet of n members is n + 1 times as high in two cases: a round is
/// mostly arithmetic, because a peer that has lost neighbours mixes fewer models; or nothing flows
/// (pushes), because peers that did rounds apart receive several rounds' messages at once. Peers
/// without data (servers, memories, actors) are exempt: their rounds answer others, and requests
/// that arrived during a pause are answered at once. Peers that ask servers without waiting for
/// each other are exempt, too: the server's load sets their pace.
///
/// The rule of edges: once nothing goes wrong any more, an edge that carried flows undisturbed
/// carries them again. While each of its ends sees the other, not both end `most_silent` rounds
/// without a flow. Edges without flows (collectives, servers, pushes) have none that could stop. If
/// the deadline is shorter than a round and the ways of two halves, neither rule is judged.
struct Usual {
  struct Pace {
    Time window{0};   ///< ten rounds; 0: the run is shorter, and the peer is not judged
    Round most = 0;   ///< rounds that ended in a window
    Round times = 2;  ///< limit, as a multiple of `most`
  };
  std::vector<Pace> paces;                            ///< by peer
  std::map<std::pair<PeerId, PeerId>, Round> pauses;  ///< key (a, b): rounds of a between two flows
  Time length{0};                                     ///< length of the run of the unchanged fleet
  Time round{0};                     ///< mean length of rounds, of the slowest trainer
  Time longest_round = Time::max();  ///< rounds that take longer have no time before the deadline
};
Usual usual_of(const Assembly& fleet);

/// Counts rounds and flows as they happen. Without a reference it only records them for usual_of();
/// peers may then call it from several threads.
class Steadiness {
 public:
  explicit Steadiness(PeerId peers) : lives_(peers) {}
  /// `calm`: time after which there are no more faults and links are restored.
  Steadiness(const Usual& usual, Time calm);

  /// Returns whether both peers see each other, neither lies, and the deadline leaves them time.
  using Together = std::function<bool(PeerId, PeerId)>;
  /// Handles the end of a peer's round at `now`, which is `own` on its own clock. The clock may be
  /// wrong, so a peer runs ahead only if it does so by both times.
  void ended(Life life, Time own, Time now, const Together& together = {});
  void flowed(PeerId at, PeerId with);

  /// Returns the peers that ran ahead and the silent edges; ascending.
  std::vector<std::string> violations() const;
  /// Judges only edges from now on.
  void stop_judging_pace() { judges_pace_ = false; }
  bool ran_ahead() const { return !ahead_.empty(); }
  /// Returns the time at which the peer last ended a round.
  Time last_round(PeerId peer) const { return lives_[peer].last; }

 private:
  friend Usual usual_of(const Assembly& fleet);
  struct Record {
    std::uint64_t life = 0;
    Time last{0};
    std::deque<Time> own, true_time;  ///< ends of rounds in the window; without a reference, all
    std::map<PeerId, Round> since;    ///< rounds since the last flow with each
    std::map<PeerId, Round> longest;  ///< maximum of `since`
  };
  void count_silence(PeerId peer, const Together& together);
  Round most_silent(PeerId a, PeerId b) const;

  const Usual* usual_ = nullptr;
  bool judges_pace_ = true;
  Time calm_{0};
  std::vector<Record> lives_;
  std::map<Life, Round> ahead_;  ///< maximum rounds in a window
  std::map<std::pair<PeerId, PeerId>, std::pair<Round, Round>> silent_;
};

/// Returns timeouts and dial intervals of links for fleets whose rounds take about a millisecond.
LinkTimes swarm_times();
/// Returns these times, scaled up if a frame of this fleet may travel for over a millisecond, so
/// that handshakes have enough time.
LinkTimes swarm_times(const Assembly& fleet);

/// Rules for a fleet under faults, in addition to: no peer waits for ever, and no message arrives
/// twice.
enum class Judgement : std::uint8_t {
  ends,    ///< no further rules
  finite,  ///< models stay finite unless poisoned
  mean,    ///< averaging loses nothing: each vector is its start, its steps and its flows
  sum,     ///< the sum over the fleet loses nothing, while all peers live and are honest
  bits,    ///< the bits of an undisturbed run, while all peers live and are honest
};

/// Faults in virtual time, random or requested by the fleet file.
struct FaultPlan {
  std::uint64_t seed = 0;
  Time until{std::chrono::milliseconds(500)};  ///< end of random faults
  FaultInjector::Trace trace;                  ///< called with a line for each event; may be empty
  bool drawn = true;     ///< random faults from the seed; false: only `inject`
  bool restart = false;  ///< injected deaths have successors
  bool succeed = true;   ///< random deaths may have successors
  Judgement judgement = Judgement::mean;
  FaultClasses classes = all_faults;  ///< classes of random faults; all others are off
  std::vector<Injection> inject{};
  std::vector<Accident> accidents{};  ///< injected by the caller
  std::vector<Time> looks{};          ///< times at which the round of each peer is recorded
  const Usual* usual = nullptr;       ///< reference for pace and edges; may be null
  LinkTimes times = swarm_times();
};

struct SimulationOptions {
  std::optional<FaultPlan> faults;
  LinkParts links{};  ///< replaced by tests; only with faults
  /// Receives peer i's state after a round, from several threads; may be null.
  std::function<void(PeerId, Round, std::vector<std::byte> state)> on_store;
  /// Receives how a life spent its time, at its end, from several threads; may be null.
  std::function<void(const Recorder&, std::uint64_t life)> on_life;
  std::vector<Checkpoint> resume;  ///< by peer; none: from the beginning
  Recalled recalled{};             ///< earlier evaluations
  int threads = 0;  ///< for the gradients of one instant; 0: all cores. Does not change bits
  /// Makes peer i's replica; if null, the fleet's own on the CPU.
  std::function<std::unique_ptr<Replica>(PeerId)> replica;
  std::optional<NetworkSpec> network;  ///< replaces the fleet's
  Round rounds = 0;  ///< replaces the fleet's, without reports and checkpoints; 0: the fleet's
  Round until = 0;   ///< last round, with everything else as in a whole run; 0: the fleet's
  Round keep = 0;    ///< passes each peer's state after this round to on_store; 0: none
  std::function<bool()> interrupted;  ///< polled; true: all peers stop after their round
  /// Called before the first event, and after the work of each instant, with the first life of each
  /// peer; may stop some.
  std::function<void(const std::vector<Peer*>&)> between;
  /// Polled occasionally with faults, with the number of events; if it returns true, the run ends
  /// and the result contains only `abandoned`.
  std::function<bool(std::uint64_t events)> abandon;
  /// Receives peer 0's round occasionally, from the loop.
  std::function<void(Round round, Time virtual_time)> on_progress;
  /// Ends a job of peer i, now or later, after its program had its turn; if null, now. Only without
  /// faults.
  std::function<void(PeerId, std::function<void()> ended)> after_job;
  PeerParts parts{};                 ///< replacements for the real ones
  Steadiness* steadiness = nullptr;  ///< records a run without faults; may be null
};

struct SimulationResult {
  FaultCounts faults{};
  ProbeCounts probes{};
  std::vector<std::string> violations;  ///< broken rules that must always hold
  Time virtual_time{0};
  std::uint64_t events = 0;
  std::uint64_t trace_hash = 0;  ///< hash of all events; only with faults
  std::vector<PeerId> lost{};    ///< peers dead at the end
  /// The peers whose death or standstill made a collective impossible.
  std::set<PeerId> broken_by{};
  std::map<PeerId, PeerId> left_by{};  ///< Report::left_by, by the peer that reported it
  std::set<PeerId> chains_ended{};     ///< peers that ended a chain which the others do not need
  double drift = 0;                    ///< relative difference between a vector and its account
  bool interrupted = false;
  bool abandoned = false;
  std::vector<std::vector<Round>> looks{};  ///< at FaultPlan::looks, by peer

  /// Returns whether all peers lived and did all their rounds.
  bool whole() const { return lost.empty() && broken_by.empty() && chains_ended.empty(); }
};

/// Runs the whole fleet in virtual time, with the algorithm code used over TCP and bit-identical
/// replicas.
SimulationResult simulate(const Assembly& fleet,
                          Observer& observer,
                          const SimulationOptions& options);

}  // namespace gv
