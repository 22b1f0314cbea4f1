#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "peer/cli/embed/program.h"
#include "peer/cli/embed/program_simulation.h"
#include "peer/cli/embed/verb_at_hand.h"

namespace gv::embed {

/// Reads an argument `timeout_ms`: a negative one is without end, as far as anybody can wait.
std::chrono::nanoseconds time_of(int timeout_ms);

/// A program in a simulation: a peer of it, or the one that evaluates its models (task "ask").
class ProgramSeat : public Program {
 public:
  ProgramSeat(OpenWords words, std::shared_ptr<ProgramSimulation> simulation);
  /// Waits until the simulator touches no tensor of it any more.
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
  Seat seat_;
  TurnChecks checks_;
  bool begun_ = false;
  bool sits_ = false;                 ///< it waits for turns, or has had one
  std::shared_ptr<VerbAtHand> verb_;  ///< null: none
  TransfersAtHand transfers_;
  bool waits_ = false;             ///< for a verb: the simulator goes on
  VerbAtHand* awaited_ = nullptr;  ///< for which; whoever is at work may touch it
};

/// A seat, or a program that is timed before the simulation begins (task "measure").
std::unique_ptr<Program> make_seat(const std::shared_ptr<ProgramSimulation>& simulation,
                                   const SeatWords& words);

}  // namespace gv::embed
