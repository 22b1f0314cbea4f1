#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/record/life/recorder.h"
#include "peer/record/observer.h"
#include "peer/runtime/assembly.h"
#include "peer/runtime/peer_plan.h"
#include "peer/sim/fault_injector.h"
#include "peer/sim/faults.h"
#include "peer/sim/sim_network.h"
#include "peer/sim/steadiness.h"

namespace gv {

/// Returns when an end of a broken connection gives the neighbour up, and how often it dials: for
/// fleets whose rounds take about a millisecond.
LinkTimes swarm_times();
/// Returns such times, longer where a frame of this fleet may be on its way for over a millisecond:
/// in proportion, so that a handshake has the time it takes.
LinkTimes swarm_times(const Assembly& fleet);

/// The rules that a fleet under faults is held to, beyond that nobody waits for ever and no message
/// comes twice.
enum class Judgement : std::uint8_t {
  ends,    ///< nothing more
  finite,  ///< models stay numbers where nobody was poisoned
  mean,    ///< averaging loses nothing: each vector is its start, its steps and its flows
  sum,     ///< the same of the sum over the fleet, as long as all live and are honest
  bits,    ///< it ends as an undisturbed run does, as long as all live and are honest
};

/// The things that go wrong in virtual time: drawn by chance, or asked for by the fleet file.
struct FaultPlan {
  std::uint64_t seed = 0;
  Time until{std::chrono::milliseconds(500)};  ///< no fault is drawn that happens later
  FaultInjector::Trace trace;                  ///< a line for everything that happens; may be empty
  bool drawn = true;     ///< faults are drawn from the seed; false: `inject` alone
  bool restart = false;  ///< injected deaths have successors
  bool succeed = true;   ///< drawn deaths may have them
  Judgement judgement = Judgement::mean;
  FaultClasses classes = all_faults;  ///< of drawn ones; no others happen
  std::vector<Injection> inject{};
  std::vector<Accident> accidents{};  ///< the same from within
  std::vector<Time> looks{};          ///< when the round of each peer is noted
  const Usual* usual = nullptr;       ///< the measure of pace and edges; null: they are not judged
  LinkTimes times = swarm_times();
};

struct SimulationOptions {
  std::optional<FaultPlan> faults;
  LinkParts links{};  ///< the tests' own, with faults
  /// Takes peer i's state after a round, from several threads; null: nobody does.
  std::function<void(PeerId, Round, std::vector<std::byte> state)> on_store;
  /// Takes where a life spent its time, at its end, from several threads; null: nobody asks.
  std::function<void(const Recorder&, std::uint64_t life)> on_life;
  std::vector<Checkpoint> resume;  ///< by peer; empty: from the beginning
  Recalled recalled{};             ///< of the evaluations before that
  int threads = 0;  ///< for the gradients of one instant; 0: all cores. Changes no bit
  /// Makes peer i's replica; null: the fleet's own, on the CPU.
  std::function<std::unique_ptr<Replica>(PeerId)> replica;
  std::optional<NetworkSpec> network;  ///< instead of the fleet's
  Round rounds = 0;  ///< instead of the fleet's, without reports and checkpoints; 0: the fleet's
  Round until = 0;   ///< the last round, and all else as in a whole run; 0: the fleet's
  Round keep = 0;    ///< each peer's state after this round goes to on_store as well; 0: none
  std::function<bool()> interrupted;  ///< polled; true: every peer stops after its round
  /// Called before the first event, and whenever the work of an instant is done, with the first
  /// life of each peer; may stop some of them.
  std::function<void(const std::vector<Peer*>&)> between;
  /// Polled with faults, now and then, with the events so far; true: nothing more happens, and the
  /// result says nothing but that.
  std::function<bool(std::uint64_t events)> abandon;
  /// Takes what round peer 0 has done, now and then, from the loop.
  std::function<void(Round round, Time virtual_time)> on_progress;
  /// Ends a job of peer i, now or later, when its program has had its turn; null: now. Without
  /// faults.
  std::function<void(PeerId, std::function<void()> ended)> after_job;
  PeerParts parts{};  ///< instead of the real ones
  Steadiness* steadiness =
      nullptr;  ///< counts rounds and flows of a run without faults; may be null
};

struct SimulationResult {
  FaultCounts faults{};
  ProbeCounts probes{};
  std::vector<std::string> violations;  ///< of what must hold whatever goes wrong
  Time virtual_time{0};
  std::uint64_t events = 0;
  std::uint64_t trace_hash = 0;  ///< of all that happened; with faults only
  std::vector<PeerId> lost{};    ///< injected: dead at the end
  /// The peers that died or got stuck, so that a collective could not be completed.
  std::set<PeerId> broken_by{};
  std::set<PeerId> chains_ended{};  ///< the same, of chains without which the others went on
  double drift = 0;                 ///< between a vector and what its book says of it, relative
  bool interrupted = false;
  bool abandoned = false;
  std::vector<std::vector<Round>> looks{};  ///< at FaultPlan::looks, by peer

  /// Returns whether everybody lived and did all of its rounds.
  bool whole() const { return lost.empty() && broken_by.empty() && chains_ended.empty(); }
};

/// Runs the whole fleet in virtual time, with the same algorithm code as over TCP, and bit for bit
/// the same replicas.
SimulationResult simulate(const Assembly& fleet,
                          Observer& observer,
                          const SimulationOptions& options);

}  // namespace gv
