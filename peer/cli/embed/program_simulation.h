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
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/program_fleet.h"
#include "peer/cli/embed/program_tensors.h"
#include "peer/cli/embed/program_words.h"
#include "peer/runtime/program_model.h"
#include "peer/sim/simulation.h"

namespace gv::embed {

/// Turns of a program whose peer lives in virtual time: the simulator stands still while the
/// program, on a thread of its own, has its turn, and the program while it has none. So of all
/// programs of a simulation one at a time is at work.
class SeatTurns : public Turns {
 public:
  bool evaluates = false;  ///< what it has no answer to is over when it is asked

  // For the simulator.
  void ask(Turn turn) override;
  Told told() const override;
  void end();  ///< there are no more: wait() says `over`
  /// Returns whether the job that has just asked for a turn, or gone on with it, does not end yet:
  /// the program waits, within that turn, for what others have to do. Once.
  bool take_hold();
  /// It is done: until its turn has ended, or it yields again.
  void resume();

  // For the program.
  Turn at_hand() const;
  /// The turn that wait() has given it and that it has not ended; or `none`.
  Turn given() const;
  /// Its turn; `none`: there was none for so long.
  Turn wait(std::chrono::nanoseconds at_most);
  /// Within its turn: the simulator goes on until it resumes this program. False: not yet, within
  /// this time. Also where no turn comes any more.
  bool yield(std::chrono::nanoseconds at_most);
  /// Ends the turn given. Without one it only takes what is told: a turn that has come since it
  /// last waited is none that it could have done.
  void done(const Told& told);
  /// It takes no turn any more: the one at hand ends, and so does each that is asked for.
  void close();

 private:
  void let_it_work(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Turn turn_ = Turn::none;
  bool given_ = false;  ///< turn_, to the program
  bool yields_ = false;
  bool holds_ = false;    ///< the simulator's: see take_hold()
  bool yielded_ = false;  ///< the program's: what it waits for has not been seen to be over
  bool closed_ = false;
  bool over_ = false;
  Told told_;
};

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
