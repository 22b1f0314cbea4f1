#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "gossip/algorithm.h"
#include "gossip/verbs/verb.h"
#include "optim/train/program_replica.h"
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/program.h"
#include "peer/cli/embed/program_simulation.h"

namespace gv::embed {

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
  std::vector<int> pause() override { return {}; }
  void go_on() override {}

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
