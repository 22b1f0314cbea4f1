#include "peer/cli/embed/program.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "peer/cli/embed/asked_program.h"
#include "peer/cli/embed/fault.h"
#include "peer/cli/embed/program_peer.h"

namespace gv::embed {

Program::Program(OpenWords words) : words_(std::move(words)), fleet_(open_fleet(words_)) {}

void Program::log(const std::string& line) const {
  if (!words_.log) return;
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

std::string Program::info() const {
  ProgramState state = state_;
  state.round = round_;
  state.stopping = stopping_;
  if (const std::int64_t by = left_by_; by >= 0) state.left_by = static_cast<PeerId>(by);
  if (!restored_.empty()) state.restored = restored_.size();
  return info_text(fleet_, words_, state);
}

int Program::verb(const gv_call& call, std::span<std::byte> data, int) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_verb comes after gv_attach");
  VerbCall alone = verb_call_of(call);
  alone.data.resize(data.size());
  if (const std::string why = objection_to(alone, fleet_.fleet.trainers()); !why.empty())
    throw Fault(GV_E_USE, "gv_verb: " + why);
  return GV_OK;
}

std::uint64_t Program::push(const gv_call& call, std::vector<std::byte>) {
  throw Fault(GV_E_USE, fmt::format("gv_push: there is no peer {} here", call.root));
}

std::uint64_t Program::pull(const gv_call& call, std::size_t) {
  throw Fault(GV_E_USE, fmt::format("gv_pull: there is no peer {} here", call.root));
}

int Program::wait(std::uint64_t handle, std::span<std::byte>, int) {
  throw Fault(GV_E_USE, fmt::format("gv_wait: {} is no handle", handle));
}

/// The descriptors of a launcher are there once.
std::unique_ptr<Program> make_program(OpenWords words) {
  static std::atomic<bool> taken = false;
  const bool control = words.control;
  if (control && taken)
    throw Fault(GV_E_USE, "gv_open: this process is the launcher's peer already");
  const bool asked = words.task != ProgramTask::peer;
  std::unique_ptr<Program> made;
  if (asked)
    made = std::make_unique<AskedProgram>(std::move(words));
  else
    made = std::make_unique<ProgramPeer>(std::move(words));
  if (control) taken = true;
  return made;
}

void check_told(const gv_told& told) {
  const auto no = [](const std::string& what) { throw Fault(GV_E_USE, "gv_turn: " + what); };
  if (told.size != sizeof(gv_told))
    no(fmt::format("gv_told has {} bytes, and this library's has {}", told.size, sizeof(gv_told)));
  constexpr std::uint32_t known =
      GV_HAS_LOSS | GV_HAS_RATE | GV_HAS_SAMPLES | GV_HAS_TEST_LOSS | GV_HAS_ACCURACY;
  if ((told.has & ~known) != 0) no("gv_told.has says what this library does not know");
  if ((told.has & GV_HAS_RATE) != 0 && !(told.rate >= 0 && std::isfinite(told.rate)))
    no(fmt::format("a rate of {}: it is 0 or above", told.rate));
  if ((told.has & GV_HAS_ACCURACY) != 0 && !(told.accuracy >= 0 && told.accuracy <= 1))
    no(fmt::format("an accuracy of {}: it is 0 to 1", told.accuracy));
}

void TurnChecks::end(const gv_told& told, Turn turn) {
  check_told(told);
  const bool rate = has_rate || (told.has & GV_HAS_RATE) != 0;
  if (turn == Turn::gradient || turn == Turn::gradient_and_step) {
    const ProgramUse& use = method->program;
    if (use.rate && !rate)
      throw Fault(GV_E_USE,
                  fmt::format("gv_turn: {} needs the rate of the next step, and it was never told",
                              method->kind));
    if (use.gradients != ProgramUse::Gradients::kept && !pointed)
      throw Fault(GV_E_USE,
                  fmt::format("gv_turn: {} needs the gradients: gv_point comes before the end of "
                              "this turn",
                              method->kind));
    pointed = false;
  }
  has_rate = rate;
}

Told told_of(const gv_told& said) {
  Told told;
  if ((said.has & GV_HAS_LOSS) != 0) told.loss = said.loss;
  if ((said.has & GV_HAS_RATE) != 0) told.rate = said.rate;
  if ((said.has & GV_HAS_TEST_LOSS) != 0)
    told.evaluation = {.loss = said.test_loss, .accuracy = {}};
  if ((said.has & GV_HAS_ACCURACY) == 0) return told;
  if (!told.evaluation)
    told.evaluation = {.loss = std::numeric_limits<double>::quiet_NaN(), .accuracy = {}};
  told.evaluation->accuracy = said.accuracy;
  return told;
}

}  // namespace gv::embed
