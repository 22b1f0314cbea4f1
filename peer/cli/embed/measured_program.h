#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "peer/cli/embed/program.h"
#include "peer/cli/embed/program_tensors.h"
#include "peer/cli/embed/step_watch.h"

namespace gv::embed {

/// A program that trains alone for some steps, to be timed; what it makes of its tensors is nobody
/// else's.
class MeasuredProgram : public Program {
 public:
  MeasuredProgram(OpenWords words, std::function<void(double seconds_per_step)> tell)
      : Program(std::move(words)),
        tell_(std::move(tell)),
        watch_(fleet_.outline->algorithm->program.turns) {}

  std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) override;
  void begin(const char*) override {}
  Turn turn(const gv_told* done, int timeout_ms) override;
  void point(int, std::span<void* const> data) override { segments_at(data, tensors_); }
  void forget_gradients() override {}
  void give_state(std::span<const char>) override {}
  void say(const SayWords&) override {}
  bool finish(int) override { return true; }
  void end_turn() override { watch_.ended(std::exchange(at_hand_, Turn::none)); }
  std::vector<int> pause() override { return {}; }
  void go_on() override {}

 private:
  std::function<void(double)> tell_;
  ProgramTensors tensors_;
  StepWatch watch_;
  Turn at_hand_ = Turn::none;
};

}  // namespace gv::embed
