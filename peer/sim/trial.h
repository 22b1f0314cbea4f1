#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "peer/sim/accounted_replica.h"
#include "peer/sim/audit.h"
#include "peer/sim/faults.h"
#include "peer/sim/sim_disk.h"
#include "peer/sim/simulation.h"

namespace gv {

/// A simulated fleet under faults, and its judgement. Rules that must always hold: every flow is
/// applied at both ends or neither, once, and opposite; a vector is the result of its own steps and
/// the flows in its ledger; values that are not finite do not spread; no peer waits for ever. If a
/// neighbour lies, the rules hold for all others: the liar can neither end their training early nor
/// fill their memory.
class Trial {
 public:
  /// Starts another life of a peer that has lost its memory.
  using Begin = std::function<Peer*(Life, const std::optional<Checkpoint>& past)>;

  Trial(const FaultPlan& plan, const LinkParts& parts, SimShared& shared, Begin begin);

  /// Adds a life that is about to start; its replica is an AccountedReplica.
  void born(Life life, Peer& peer, Task<>& task);
  void start();
  /// Returns whether nothing that is judged can happen any more. Called between two events; if a
  /// peer lies, also checks the honest peers' memory.
  bool over();
  Faults& faults() { return faults_; }
  void judge(SimulationResult& result);

 private:
  struct Record {
    Life life;
    Peer* peer = nullptr;
    Task<>* task = nullptr;
    bool started = false;  ///< its link layer has found enough neighbours
    bool dead = false;
    bool poisoned = false;
    bool liar = false;
    const AccountedReplica& replica() const {
      return static_cast<const AccountedReplica&>(peer->replica);
    }
  };

  /// Returns whether the fleet can make no more progress, or the run is much too long.
  bool stuck();
  bool stands_still(Time now);
  void look();
  void die(PeerId peer);
  void rise(PeerId peer);
  bool poison(PeerId peer);
  bool lie(PeerId peer);
  bool honest_have_ended();
  void check_leap(PeerId peer, Round to);
  void begin_to_judge_pace(const std::vector<Accident>& accidents);
  std::vector<Accident> accidents();
  bool deadline_leaves_time();
  void note_given_up(PeerId by, PeerId peer);
  bool excused(PeerId a, PeerId b) const { return given_up_.contains(std::minmax(a, b)); }
  void check_memory();
  bool works(PeerId peer);
  void keep(PeerId peer, Round round, std::vector<std::byte> state);
  void begin(std::size_t record);
  void forget_missing();
  Record& present(PeerId peer) { return records_[present_[peer]]; }
  bool may_be_poisoned(const Record& record) const;
  bool gone(Life life) const;
  bool met_a_liar(PeerId id, PeerId other);
  bool alone(const Record& record);
  void check_ends(SimulationResult& result);
  void check_end(const Record& record);
  void check_exchanges(const Record& record);
  double drift(const Record& record);
  double drift_of_sum();
  double judge_drift(double drift, const std::string& of, double most);

  const FaultPlan& plan_;
  SimShared& shared_;
  Begin begin_;
  FaultInjector injector_;
  Audit audit_;
  Faults faults_;
  std::optional<Steadiness> steadiness_;
  std::set<std::pair<PeerId, PeerId>> given_up_;  ///< pairs for which the documents allow it
  Time got_on_at_;                                ///< last time that a new round was seen ...
  Round rounds_ = 0;                              ///< ... and the sum of all rounds then
  std::vector<Record> records_;
  std::deque<SimCheckpointStore> stores_;
  std::vector<std::size_t> present_;  ///< index of the last record of each peer
  std::vector<std::string> violations_;
  std::vector<std::vector<Round>> rounds_seen_;  ///< see FaultPlan::looks
  bool lied_ = false;
  bool deserted_ = false;    ///< some peer may have only one neighbour left
  std::uint64_t looks_ = 0;  ///< number of checks of the honest peers' memory
};

}  // namespace gv
