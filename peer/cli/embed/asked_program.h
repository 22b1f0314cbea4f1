#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/cli/embed/program.h"
#include "peer/cli/embed/program_tensors.h"
#include "peer/cli/embed/program_virtual_peer.h"
#include "peer/launch/launcher_line.h"

namespace gv::embed {

/// A program started alone, to answer which model it trains and how good a model is (`ask`), or how
/// long its steps take (`measure`); see peer/launch/program/program_words.h.
class AskedProgram : public Program {
 public:
  explicit AskedProgram(OpenWords words);

  std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) override;
  void begin(const char*) override {}
  Turn turn(const gv_told* done, int timeout_ms) override;
  void point(int what, std::span<void* const> data) override;
  void forget_gradients() override {}
  void give_state(std::span<const char>) override {}
  void say(const SayWords& words) override;
  bool finish(int) override { return true; }
  void end_turn() override;
  std::vector<int> pause() override;
  void go_on() override {}

 private:
  void introduce();
  void end_turn_at_hand(const gv_told& told);
  Turn next_to_measure();
  Turn next_question(int timeout_ms);
  bool hear(int timeout_ms);

  LauncherLine line_;
  AttachWords attached_;
  ProgramTensors tensors_;
  std::vector<float> start_;  ///< x_0, until it is sent
  Turn at_hand_ = Turn::none;
  std::uint64_t question_ = 0;
  std::string heard_;
  StepWatch watch_;
};

}  // namespace gv::embed
