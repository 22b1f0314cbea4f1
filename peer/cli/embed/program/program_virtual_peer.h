#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "gossip/algorithm.h"
#include "gossip/verbs/verb.h"
#include "optim/replica/program_replica.h"
#include "peer/cli/embed/calls/call_arguments.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/cli/embed/calls/program_tensors.h"
#include "peer/cli/embed/program/program.h"
#include "peer/cli/embed/program/program_fleet.h"
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

/// Measures the steps of a program that trains alone.
class StepWatch {
 public:
  explicit StepWatch(ProgramUse::Turns turns) : turns_(turns) {}

  /// Returns the next turn; `over` when enough steps have been timed.
  Turn next();
  /// Notes the end of this turn.
  void ended(Turn turn);
  double seconds_per_step() const { return seconds_per_step_; }  ///< 0 if not known yet

 private:
  using Clock = std::chrono::steady_clock;

  ProgramUse::Turns turns_;
  std::uint32_t steps_ = 0;
  bool steps_next_ = false;
  Clock::time_point began_{};
  double seconds_per_step_ = 0;
};

/// A verb that a program has begun, and that ends on the loop.
class VerbAtHand {
 public:
  VerbAtHand(VerbCall call, std::size_t bytes);

  /// Throws Fault (GV_E_USE) if the program continues with a different call.
  void check_same(const VerbCall& call, std::size_t bytes) const;
  void end(VerbEnd end);
  VerbOp op() const { return call_.op; }
  PeerId root() const { return call_.root; }
  std::size_t bytes() const { return bytes_; }
  /// Waits for the end, at most `at_most`; may return earlier.
  void wait(std::chrono::nanoseconds at_most);
  std::optional<VerbEnd> take_end();
  /// Returns whether a minute has passed since it began, or since this was last true.
  bool is_slow();

 private:
  const VerbCall call_;
  const std::size_t bytes_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<VerbEnd> end_;
};

/// Result of a wait for a verb; without both members, the fleet stopped before the end.
struct Waited {
  bool more = false;
  std::optional<VerbEnd> end{};
};

/// Returns the code for gv_verb or gv_wait, with the result in `data`. Throws Fault: the verb's, or
/// else `failure`, which has stopped the fleet.
int code_of(const Waited& waited,
            VerbOp op,
            std::span<std::byte> data,
            const std::optional<Fault>& failure);

/// Makes the verb of a push, which returns no data, or of a pull.
std::shared_ptr<VerbAtHand> transfer_at_hand(const VerbCall& call, bool pushes);

/// Pushes and pulls for which a program has not waited yet.
class TransfersAtHand {
 public:
  struct Transfer {
    std::shared_ptr<VerbAtHand> verb;
    bool lends = false;
  };
  static constexpr std::size_t most = 1024;

  /// Throws Fault (GV_E_USE) if there are too many for another one.
  void check_room(const char* call) const;
  /// Returns the transfer's handle.
  std::uint64_t add(Transfer transfer);
  /// Throws Fault (GV_E_USE) if there is no such handle, or `bytes` differ from its own.
  const Transfer& at(std::uint64_t handle, std::size_t bytes) const;
  void erase(std::uint64_t handle) { transfers_.erase(handle); }

 private:
  std::map<std::uint64_t, Transfer> transfers_;
  std::uint64_t last_ = 0;
};

/// Converts an argument `timeout_ms`; a negative one means practically no limit.
std::chrono::nanoseconds time_of(int timeout_ms);

/// A program in a simulation: a peer, or the program that evaluates its models (task "ask").
class ProgramSeat : public Program {
 public:
  ProgramSeat(OpenWords words, std::shared_ptr<ProgramSimulation> simulation);
  /// Waits until the simulator accesses none of its tensors any more.
  ~ProgramSeat() override;

  std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) override;
  void begin(const char* addresses) override;
  Turn turn(const gv_told* done, int timeout_ms) override;
  void point(int what, std::span<void* const> data) override;
  void forget_gradients() override;
  void give_state(std::span<const char> bytes) override;
  void say(const SayWords& words) override;
  bool finish(int timeout_ms) override;
  int verb(const gv_call& call, std::span<std::byte> data, int timeout_ms) override;
  std::uint64_t push(const gv_call& call, std::vector<std::byte> data) override;
  std::uint64_t pull(const gv_call& call, std::size_t bytes) override;
  int wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms) override;
  void end_turn() override;

 private:
  bool is_peer() const { return words_.task == ProgramTask::peer; }
  void check_in_turn() const;
  bool is_in_turn(const char* call, int timeout_ms);
  std::function<void(VerbEnd)> ends(const std::shared_ptr<VerbAtHand>& verb);
  Waited wait_for(VerbAtHand& verb, int timeout_ms);
  std::uint64_t begin_transfer(VerbCall call, bool pushes);
  void end_turn_at_hand(const gv_told& told);

  std::shared_ptr<ProgramSimulation> simulation_;
  VirtualPeer peer_;
  TurnChecks checks_;
  bool begun_ = false;
  bool sits_ = false;                 ///< waits for turns, or has had one
  std::shared_ptr<VerbAtHand> verb_;  ///< null if none
  TransfersAtHand transfers_;
  bool waits_ = false;             ///< waits for a verb while the simulator continues
  VerbAtHand* awaited_ = nullptr;  ///< that verb; for whichever side works
};

/// Makes a peer, or a program that is timed before the simulation begins (task "measure").
std::unique_ptr<Program> make_virtual_peer(const std::shared_ptr<ProgramSimulation>& simulation,
                                           const VirtualPeerWords& words);

}  // namespace gv::embed
