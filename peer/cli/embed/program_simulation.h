#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/program_fleet.h"
#include "peer/cli/embed/program_tensors.h"
#include "peer/cli/embed/program_words.h"
#include "peer/cli/embed/seat_turns.h"
#include "peer/runtime/program_model.h"
#include "peer/sim/simulation.h"

namespace gv::embed {

/// The place of a program in a simulation: what both know of each other.
struct Seat {
  ProgramTensors tensors{};
  SeatTurns turns{};
  std::atomic<bool> leaves = false;  ///< after its round
  // The simulator's, while it runs:
  ProgramReplica* replica = nullptr;
  Peer* peer = nullptr;
  std::function<void()> held{};  ///< ends the job of the turn in which its program waits
};

/// A fleet in virtual time whose peers are programs of this process. It begins when all of them
/// wait for their first turn, on a thread of its own. What the first one attaches is the fleet's
/// model; the one that was asked (task "ask") evaluates the mean of all. All functions are for any
/// thread.
class ProgramSimulation {
 public:
  /// Throws Fault: the fleet file is wrong, or asks for what no simulation of programs has.
  explicit ProgramSimulation(SimulationWords words);
  /// Nobody sits in it any more.
  ~ProgramSimulation();
  ProgramSimulation(const ProgramSimulation&) = delete;
  ProgramSimulation& operator=(const ProgramSimulation&) = delete;

  const OpenWords& words() const { return words_.open; }
  void measured(double seconds_per_step);
  /// Takes what a seat has attached, which must be as the first one's, and gives it x_0.
  void attach(Seat& seat, std::optional<PeerId> id);
  /// Peer `id` waits for its first turn there, and its tensors stay until over(). From now on its
  /// thread is at work in its turns alone.
  void sit(Seat& seat, PeerId id);
  /// Somebody leaves without a word: no program has a turn any more, and all ends in no time.
  void abandon();
  /// Lets the program of peer `id` go on soon: what it waits for within its turn is here.
  void go_on_soon(Seat& seat, PeerId id);
  /// Every peer stops after its round.
  void stop() { stopped_ = true; }
  /// Waits for the end; false: it does not come within this time.
  bool over(std::chrono::nanoseconds at_most);
  /// Says why it could not go on; known once it is over.
  std::optional<Fault> failure() const;
  /// Returns what gv_simulation_info writes.
  std::string info() const;

 private:
  void run();
  std::string simulated();
  std::string summary_of(const Assembly& fleet,
                         const Observer& observer,
                         const SimulationResult& result) const;
  std::unique_ptr<Replica> replica_of(const Assembly& fleet, double flops, PeerId i);
  void look(const std::vector<Peer*>& peers);
  void after_job(PeerId i, std::function<void()> ended);
  void end(std::optional<Fault> failure, std::string summary);

  const SimulationWords words_;
  ProgramFleet fleet_;
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<ProgramModel> model_;
  std::optional<double> step_seconds_;
  std::vector<Seat*> seats_;  ///< of each peer that trains, once it sits
  Seat* evaluator_ = nullptr;
  PeerId sitting_ = 0;
  bool over_ = false;
  std::optional<Fault> failure_;
  std::vector<std::string> records_;  ///< JSON, of each evaluation
  std::string summary_ = "null";      ///< likewise
  std::thread thread_;
};

}  // namespace gv::embed
