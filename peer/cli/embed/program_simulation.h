#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "optim/train/program_replica.h"
#include "peer/cli/embed/call_arguments.h"
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/program_fleet.h"
#include "peer/cli/embed/program_tensors.h"
#include "peer/runtime/assembly/program_model.h"
#include "peer/sim/simulation.h"

namespace gv::embed {

/// Turns of a program whose peer lives in virtual time. The simulator pauses while the program, on
/// its own thread, has a turn, and the program pauses otherwise. So one program of a simulation
/// works at a time.
class VirtualTurns : public Turns {
 public:
  bool evaluates = false;  ///< otherwise such a turn ends at once

  // For the simulator.
  void ask(Turn turn) override;
  Told told() const override;
  void end();  ///< no more turns: wait() returns `over`
  /// Returns, once, whether the job that has just asked for a turn, or resumed one, does not end
  /// yet, because the program waits within that turn for the work of others.
  bool take_hold();
  /// Resumes the program, and waits until its turn has ended or it yields again.
  void resume();

  // For the program.
  Turn at_hand() const;
  /// Returns the turn that wait() returned and that the program has not ended, or `none`.
  Turn given() const;
  /// Returns the next turn, or `none` after `at_most`.
  Turn wait(std::chrono::nanoseconds at_most);
  /// Lets the simulator continue within the turn until it resumes this program. Returns false if
  /// that takes longer than `at_most`. Returns true also if no turn comes any more.
  bool yield(std::chrono::nanoseconds at_most);
  /// Ends the given turn. Without one it only takes the report: a turn that has come since the last
  /// wait() is not one that the program has done.
  void done(const Told& told);
  /// Takes no more turns: ends the current one, and each later one at once.
  void close();

 private:
  void let_it_work(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::none;
  bool given_ = false;  ///< turn_ was given to the program
  bool yields_ = false;
  bool holds_ = false;    ///< for the simulator: see take_hold()
  bool yielded_ = false;  ///< for the program: the end of its wait is not noticed yet
  bool closed_ = false;
  bool over_ = false;
  Told told_;
};

/// Place of a program in a simulation, with the state that both share.
struct VirtualPeer {
  ProgramTensors tensors{};
  VirtualTurns turns{};
  std::atomic<bool> leaves = false;  ///< leaves after its round
  std::optional<PeerId> left_by{};   ///< Report::left_by; set before `turns` end
  // For the simulator, while it runs:
  ProgramReplica* replica = nullptr;
  Peer* peer = nullptr;
  std::function<void()> held{};  ///< ends the job in which the program waits
};

/// A fleet in virtual time whose peers are programs of this process. Begins, on its own thread,
/// when all peers wait for their first turn. The first attached program sets the fleet's model; the
/// program with the task "ask" evaluates the mean of all. All functions are for any thread.
class ProgramSimulation {
 public:
  /// Throws Fault if the fleet file is wrong or needs what simulations of programs do not have.
  explicit ProgramSimulation(SimulationWords words);
  /// Destroy it only when no program uses a place in it any more.
  ~ProgramSimulation();
  ProgramSimulation(const ProgramSimulation&) = delete;
  ProgramSimulation& operator=(const ProgramSimulation&) = delete;

  const OpenWords& words() const { return words_.open; }
  void measured(double seconds_per_step);
  /// Takes the tensors of a peer, which must be like the first one's, and loads x_0 into them.
  void attach(VirtualPeer& peer, std::optional<PeerId> id);
  /// Called when peer `id` waits for its first turn. Its tensors must stay until over(), and its
  /// thread works only in its turns from now on.
  void sit(VirtualPeer& peer, PeerId id);
  /// Ends everything at once, because a program left early: no program gets another turn.
  void abandon();
  /// Lets the program of peer `id` continue soon, because its wait within the turn is over.
  void go_on_soon(VirtualPeer& peer, PeerId id);
  /// Makes every peer stop after its round.
  void stop() { stopped_ = true; }
  /// Waits for the end. Returns false if it does not come within this time.
  bool over(std::chrono::nanoseconds at_most);
  /// Returns why the simulation failed, if it did; known once it is over.
  std::optional<Fault> failure() const;
  /// Returns the object that gv_simulation_info writes.
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
  std::vector<VirtualPeer*> peers_;  ///< the peers that train, once attached
  VirtualPeer* evaluator_ = nullptr;
  PeerId sitting_ = 0;
  bool over_ = false;
  std::optional<Fault> failure_;
  std::vector<std::string> records_;  ///< JSON of each evaluation
  std::string summary_ = "null";      ///< JSON
  std::thread thread_;
};

}  // namespace gv::embed
