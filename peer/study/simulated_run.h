#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"

namespace gv {

/// Stores every peer's state after one round of a simulation, from its on_store. Each peer has its
/// own element, so that peers on different threads need no lock.
class KeptRound {
 public:
  KeptRound(PeerId peers, Round round) : round_(round), states_(peers) {}

  Round round() const { return round_; }
  /// Stores another round from now on; called while no peer computes.
  void expect(Round round) { round_ = round; }
  /// Stores a state of this round; ignores other rounds.
  void take(PeerId peer, Round round, std::vector<std::byte> state) {
    if (round == round_) states_[peer] = std::move(state);
  }
  /// Returns whether all states have arrived; called while no peer computes.
  bool whole() const {
    return round_ > 0 && std::ranges::none_of(states_, &std::vector<std::byte>::empty);
  }
  /// Returns the states by peer, without the digests that files have.
  std::vector<Checkpoint> checkpoints() const {
    std::vector<Checkpoint> all;
    for (PeerId i = 0; i < states_.size(); ++i)
      all.push_back({.fleet = {}, .model = {}, .peer = i, .round = round_, .state = states_[i]});
    return all;
  }

 private:
  Round round_;
  std::vector<std::vector<std::byte>> states_;  ///< by peer; not yet there if empty
};

/// Thrown by a callback of simulate_blind to leave it after enough rounds.
struct SeenEnough {};
/// Simulates on one thread, without evaluations, to the end of the run.
void simulate_blind(const Assembly& fleet, SimulationOptions options);

/// Returns the file's faults in virtual time, with the timeouts by which a real fleet detects them.
FaultPlan injected_faults(const Assembly& fleet);

/// Returns a simulated run's part of summary.json without target and exit code: the last record,
/// the predictions, and the network's shape, on which the seconds depend.
Json simulated_summary(const Assembly& fleet, const FleetRecord& end, const FinalHashes& hashes);

/// Returns a function, callable from any thread, that writes how a simulated peer spent its time
/// into the run's folder; it sets `failed` if it cannot write. Returns nullptr if the fleet does
/// not ask for it or has more than 1,000 peers: then metrics.jsonl has their sums.
std::function<void(const Recorder&, std::uint64_t life)> life_writer(const Assembly& fleet,
                                                                     const RunFolder& folder,
                                                                     std::atomic<bool>& failed);

}  // namespace gv
